"""The model of the tutorial on MNIST, `tensorflow.examples.tutorials.mnist.mnist`."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    """Returns the logits `[batch, NUM_CLASSES]` of images `[batch, IMAGE_PIXELS]`."""
    hidden = tf.nn.relu(_linear("hidden1", images, IMAGE_PIXELS, hidden1_units))
    hidden = tf.nn.relu(_linear("hidden2", hidden, hidden1_units, hidden2_units))
    return _linear("softmax_linear", hidden, hidden2_units, NUM_CLASSES)


def _linear(name: str, inputs: Any, depth: int, units: int) -> Any:
    with tf.name_scope(name):
        start = tf.truncated_normal([depth, units], stddev=1.0 / math.sqrt(depth))
        weights = tf.Variable(start, name="weights")
        biases = tf.Variable(tf.zeros([units]), name="biases")
        return tf.matmul(inputs, weights) + biases


def loss(logits: Any, labels: Any) -> Any:
    """Returns the mean cross entropy with labels `[batch]`."""
    return tf.losses.sparse_softmax_cross_entropy(tf.cast(labels, tf.int64), logits)


def training(loss: Any, learning_rate: float) -> Any:
    """Returns an operation that makes a step, and counts it in a variable `global_step`."""
    tf.summary.scalar("loss", loss)
    step = tf.Variable(0, name="global_step", trainable=False)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=step)


def evaluation(logits: Any, labels: Any) -> Any:
    """Returns the number of images whose largest logit is that of the label."""
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))
