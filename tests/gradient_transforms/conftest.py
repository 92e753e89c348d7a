"""Fixtures of the tests of transforms: dense and sparse gradients, a session."""

import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized


@pytest.fixture
def variable(graph):
    """Makes a variable of zeros, by default `[3, 2]`."""

    def make(name, shape=(3, 2)):
        return tf.get_variable(name, list(shape), initializer=tf.zeros_initializer())

    return make


@pytest.fixture
def sparse(graph):
    """Makes a sparse gradient of a `[3, 2]` variable; index 1 stands in it twice."""

    def make(values=((3.0, 4.0), (0.0, 12.0))):
        return tf.IndexedSlices(tf.constant(values), tf.constant([1, 1]), tf.constant([3, 2]))

    return make


@pytest.fixture
def evaluate(graph):
    """Runs fetches once, all variables initialised."""
    return run_initialized
