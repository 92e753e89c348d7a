"""Sessions of programs that put the channels first."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.client.session import BaseSession

from tf_frame.deploy.session_config import omit_passes
from tf_frame_legacy.program.sessions import turn_channels_on_cpu

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def turned(monkeypatch):
    # The process of the tests gets back what it had.
    monkeypatch.setattr(BaseSession, "__init__", BaseSession.__init__)
    turn_channels_on_cpu()


def convolution(image, data_format):
    kernel = tf.constant(np.random.default_rng(1).normal(size=[3, 3, 2, 4]), tf.float32)
    layer = tf.nn.conv2d(image, kernel, strides=2, padding="SAME", data_format=data_format)
    layer = tf.nn.bias_add(layer, tf.ones([4]), data_format=data_format)
    layer = tf.nn.max_pool(layer, 2, 2, "SAME", data_format=data_format)
    return layer, tf.gradients(tf.square(layer), [image])[0]


def of_training():
    config = tf.ConfigProto()
    omit_passes(config)
    return config


@pytest.mark.parametrize("config", [None, tf.ConfigProto(allow_soft_placement=True), of_training()])
@pytest.mark.usefixtures("turned")
def test_channels_first_give_the_same_on_a_cpu(config):
    images = np.random.default_rng(0).normal(size=[2, 9, 9, 2]).astype(np.float32)
    image = tf.placeholder(tf.float32, [2, 9, 9, 2])
    first = [
        tf.transpose(value, [0, 2, 3, 1])
        for value in convolution(tf.transpose(image, [0, 3, 1, 2]), "NCHW")
    ]
    with tf.Session(config=config) as session:
        values, expected = session.run([first, convolution(image, "NHWC")], {image: images})
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, wanted, 1e-5, 1e-5)


@pytest.mark.usefixtures("turned")
def test_the_choice_of_a_program_stays():
    config = tf.ConfigProto(inter_op_parallelism_threads=2)
    with tf.Session(config=config) as session:
        assert session._config.inter_op_parallelism_threads == 2
    options = config.graph_options.rewrite_options
    assert options.cpu_layout_conversion == 0
    options.cpu_layout_conversion = rewriter_config_pb2.RewriterConfig.NHWC_TO_NCHW
    with tf.Session(config=config) as session:
        assert session._config == config
