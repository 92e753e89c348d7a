"""Fixtures that run optimizers over given gradients."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option import resolve

START = np.array([[1.0, -2.0], [3.0, 0.5], [0.25, -1.0]], np.float32)
GRADIENTS = np.array(
    [
        [[0.5, -1.0], [2.0, 0.25], [-0.5, 1.0]],
        [[-0.25, 0.5], [1.0, 1.0], [0.0, 0.75]],
        [[1.0, 1.0], [-0.5, 0.0], [0.25, -2.0]],
    ],
    np.float32,
)
RATE = 0.1


@pytest.fixture
def make():
    """Constructs an optimizer from options as a user gives them, checks included."""

    def construct(cls, **options):
        named = {f"optimizer.{name}": value for name, value in options.items()}
        return cls(params=resolve(cls.Params, [named], "optimizer"))

    return construct


@pytest.fixture
def trained():
    """Returns the variable `name` after each of three steps, in float32.

    The slices of a sparse run omit rows of zeros; two slices make up the first row.
    """

    def run(optimizer, *, name="weights", start=START, gradients=GRADIENTS, sparse=False):
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.get_variable(name, initializer=start)
            gradient = tf.placeholder(tf.float32, start.shape)
            rate, pair = tf.constant(RATE), (_slices(gradient) if sparse else gradient, variable)
            step = optimizer(rate).apply_gradients([pair])
            session.run(tf.global_variables_initializer())
            values = []
            for value in gradients:
                session.run(step, {gradient: value})
                values.append(session.run(variable))
            return np.array(values)

    return run


def _slices(gradient):
    rows = tf.where(tf.reduce_any(tf.not_equal(gradient, 0), axis=1))[:, 0]
    halves = tf.concat([rows[:1], rows], axis=0)
    slices = tf.gather(gradient, rows)
    values = tf.concat([slices[:1] / 4, slices[:1] * 3 / 4, slices[1:]], axis=0)
    return tf.IndexedSlices(values, halves, tf.shape(gradient, out_type=tf.int64))


@pytest.fixture
def expected():
    """Returns the variables after a NumPy update in float64 with the same gradients.

    The update maps value, gradient, a dict for its state, the step from 1 on and the learning
    rate to the new value.
    """

    def run(update, *, start=START, gradients=GRADIENTS):
        value, state, values = start.astype(np.float64), {}, []
        for step, gradient in enumerate(gradients.astype(np.float64), start=1):
            value = update(value, gradient, state, step, RATE)
            values.append(value)
        return np.array(values)

    return run
