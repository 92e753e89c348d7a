"""A model with a loss of 16 * 0.64 ** (n - 1) before step n, and the files that its runs wrote."""

import pytest
import tensorflow.compat.v1 as tf


def square_train_op(create_train_op, loss=None, **kwargs):
    w = tf.get_variable("w", initializer=tf.constant(4.0))
    loss = tf.square(w) if loss is None else loss(w)
    tf.summary.scalar("loss", loss)
    return create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), **kwargs)


def loss_of_step(step):
    return pytest.approx(16 * 0.64 ** (step - 1), rel=1e-5)


def checkpoints(folder):
    return sorted(path.name.removesuffix(".index") for path in folder.glob("model.ckpt*.index"))


def saved(folder, name):
    return tf.train.load_checkpoint(str(folder)).get_tensor(name)


def events(folder):
    tf.summary.FileWriterCache.clear()  # Closes the files; else a part of them is in memory.
    paths = sorted(folder.glob("events.*"))
    return [event for path in paths for event in tf.train.summary_iterator(str(path))]


def summaries(folder):
    """The step of each value of the summaries, and the value."""
    return [(event.step, value) for event in events(folder) for value in event.summary.value]


def summary_tags(folder):
    return {value.tag for _, value in summaries(folder)}


def scalars(folder, tag):
    return [(step, value.simple_value) for step, value in summaries(folder) if value.tag == tag]
