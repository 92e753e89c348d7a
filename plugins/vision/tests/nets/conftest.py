"""Fixtures of the tests of networks."""

import gzip
import math
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig

TABLES = Path(__file__).parents[1] / "variables"


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


@pytest.fixture(scope="session")
def count_parameters():
    """Sums the sizes of variables."""
    return lambda variables: sum(math.prod(shape) for _, shape in variables)


@pytest.fixture(scope="session")
def build_clones():
    """Builds clones of a network; returns the graph and the end points of each clone."""

    def build(network, num_clones=2):
        with tf.Graph().as_default() as graph:
            config = DeploymentConfig(num_clones=num_clones, clone_on_cpu=True)
            clones = create_clones(config, network)
        return graph, [clone.outputs[1] for clone in clones]

    return build
