import pytest
import tensorflow.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    """A graph of its own for each test."""
    with tf.Graph().as_default():
        yield
