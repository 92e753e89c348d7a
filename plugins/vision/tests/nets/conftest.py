"""Fixtures of the tests of networks."""

import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame import layers
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame_vision.nets import inception


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


@pytest.fixture(scope="session")
def build_inception(build_clones):
    """Builds clones of an Inception network with its arg scope and slim's 1001 classes."""

    def build(name, size, num_clones):
        def network():
            with layers.arg_scope(getattr(inception, f"{name}_arg_scope")()):
                return getattr(inception, name)(tf.zeros([2, size, size, 3]), 1001)

        return build_clones(network, num_clones)

    return build


@pytest.fixture(scope="session")
def check_end_points():
    """Checks the end points of clones.

    Square maps have a size and a depth, other end points a shape; both are in the order of their
    making. The names are those of some operations, without the scope of the clone.
    """

    def check(clones, maps, shapes, names):
        squares = {name: [2, size, size, depth] for name, (size, depth) in maps.items()}
        for end_points in clones:
            found = [(name, tensor.shape.as_list()) for name, tensor in end_points.items()]
            assert found == [*squares.items(), *shapes.items()]
        scope = "clone_0/" if len(clones) > 1 else ""
        assert {name: clones[0][name].op.name for name in names} == {
            name: scope + operation for name, operation in names.items()
        }

    return check


@pytest.fixture(scope="session")
def check_dilated_features():
    """Checks that dilated features of a thin base are the strided ones on a finer grid."""

    def check(base, arg_scope, **options):
        # Weights that keep the size of values.
        wide = tf.variance_scaling_initializer(2.0)
        normal = tf.random_normal_initializer(stddev=0.5)
        features = {}
        with (
            tf.Graph().as_default(),
            layers.arg_scope(arg_scope),
            layers.arg_scope([layers.conv2d], weights_initializer=wide),
            layers.arg_scope([layers.separable_conv2d], weights_initializer=normal),
        ):
            images = tf.constant(np.random.RandomState(0).normal(size=[1, 65, 65, 3]), tf.float32)
            options = {"depth_multiplier": 0.25, "use_explicit_padding": True, **options}
            for stride in (None, 16, 8):
                with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
                    features[stride], _ = base(images, output_stride=stride, **options)
            features = run_initialized(features)
        assert {s: net.shape[1] for s, net in features.items()} == {None: 3, 16: 5, 8: 9}
        for stride, step in ((16, 2), (8, 4)):
            finer = features[stride][:, ::step, ::step]
            np.testing.assert_allclose(finer, features[None], rtol=1e-3, atol=1e-4)
        assert np.abs(features[None]).max() > 0.01

    return check
