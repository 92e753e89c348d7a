import contextlib

import pytest
import tensorflow.compat.v1 as tf


@pytest.fixture
def small_graph():
    """Yields (session, train op, loss) of a small graph whose variables are initialised."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(0)
        weights = tf.get_variable("weights", [20, 20])
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.random_uniform([50, 20]), weights)))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            yield session, train_op, loss


@contextlib.contextmanager
def _full_after_half(path, mode):
    with open(path, mode) as file:
        file.write(b"half")
    raise tf.errors.ResourceExhaustedError(None, None, f"{path}; No space left on device")
    yield


@pytest.fixture
def full_after_half():
    """Stands for `GFile` on a disk without room."""
    return _full_after_half
