"""A model with a loss of 16 * 0.64 ** (n - 1) before step n, and the checkpoints of its runs."""

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
