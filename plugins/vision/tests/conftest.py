"""Fixtures of several tests."""

import gzip
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.testing.elements import read_elements

TABLES = Path(__file__).parent / "variables"


@pytest.fixture
def take():
    """Returns the first elements of a data set, or all of them, as NumPy values."""
    return read_elements


@pytest.fixture(scope="session")
def slim_variables():
    """Reads names and shapes of a network's variables as slim makes them.

    The tables list all global variables in the order of their making. They were
    written by tensorflow/models, research/slim/nets with tf-slim 1.1.0 on
    TensorFlow 2.15, in training mode.
    """

    def read(network):
        lines = gzip.decompress((TABLES / f"{network}.txt.gz").read_bytes()).decode().splitlines()
        return [(name, [*map(int, shape.split(","))]) for name, shape in map(str.split, lines)]

    return read


@pytest.fixture(scope="session")
def variables_in():
    """Lists names and shapes of a graph's variables in the order of their making."""

    def list_variables(graph, collection=tf.GraphKeys.GLOBAL_VARIABLES):
        return [(v.op.name, v.shape.as_list()) for v in graph.get_collection(collection)]

    return list_variables
