"""Blocks and numbers of channels of MobileNets."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.conv_blocks import (
    expanded_conv,
    fixed_padding,
    make_divisible,
    split_divisible,
    squeeze_excite,
)
from tf_frame_vision.nets.strides import Strides


@pytest.mark.parametrize(
    ("value", "divisor", "least", "expected"),
    [(32, 8, None, 32), (3, 8, None, 8), (8.4, 8, None, 8), (18, 8, None, 24), (11, 4, 16, 16)],
)
def test_channels_are_rounded_to_a_multiple_not_below_nine_tenths(value, divisor, least, expected):
    assert make_divisible(value, divisor, least) == expected


def test_channels_are_split_strides_become_rates_and_padding_is_fixed():
    assert split_divisible(96, 3) == [32, 32, 32]
    assert split_divisible(40, 3) == [16, 16, 8]
    with pytest.raises(ValueError, match="20 channels do not split into 2 multiples of 8"):
        split_divisible(20, 2)
    strides = Strides(4)
    assert [strides.next(s) for s in (2, 1, 2, 2, 1, 2, 1)] == [
        (2, 1), (1, 1), (2, 1), (1, 1), (1, 2), (1, 2), (1, 4),
    ]  # fmt: skip
    with tf.Graph().as_default():
        images = tf.zeros([1, 5, 6, 2])
        assert fixed_padding(images, [3, 3]).shape == [1, 7, 8, 2]
        assert fixed_padding(images, [5, 2], rate=2).shape == [1, 13, 8, 2]
        assert fixed_padding(images, [1, 1]).shape == [1, 5, 6, 2]


def test_a_block_adds_its_input_only_where_shapes_allow_it():
    images = np.random.RandomState(0).normal(size=[2, 4, 4, 8]).astype(np.float32)
    zeros = {"weights_initializer": tf.zeros_initializer(), "biases_initializer": None}
    with tf.Graph().as_default(), tf.Session() as session:
        with layers.arg_scope([layers.conv2d, layers.separable_conv2d], **zeros):
            nets = [
                expanded_conv(tf.constant(images), 8),
                expanded_conv(tf.constant(images), 8, residual=False),
                expanded_conv(tf.constant(images), 16),
                expanded_conv(
                    tf.constant(images), 8, residual=lambda input_tensor, **_: -input_tensor
                ),
            ]
            strided = expanded_conv(tf.constant(images), 8, stride=2)
        session.run(tf.global_variables_initializer())
        added, not_added, wider, own = session.run(nets)
        assert not session.run(strided).any()
    np.testing.assert_array_equal(added, images)
    np.testing.assert_array_equal(own, -images)
    assert not not_added.any()
    assert wider.shape == (2, 4, 4, 16)
    assert not wider.any()


@pytest.mark.parametrize(
    ("location", "channels"), [("input", 8), ("output", 16), ("expansion", 48)]
)
def test_the_depthwise_layer_stands_where_it_is_told_to(location, channels):
    noted = {}
    with tf.Graph().as_default():
        net = expanded_conv(
            tf.zeros([1, 4, 4, 8]), 16, stride=2, depthwise_location=location, endpoints=noted
        )
        weights = tf.global_variables("expanded_conv/depthwise/depthwise_weights")[0]
        assert weights.shape == [3, 3, channels, 1]
        assert net.shape == [1, 2, 2, 16]
    assert set(noted) == {"expansion_output", "depthwise_output", "projection_output"}
    assert noted["expansion_output"].shape[-1] == 48


def test_squeeze_and_excite_weighs_channels_by_their_means():
    random = np.random.RandomState(0)
    images = random.normal(size=[2, 3, 3, 16]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        weighed = squeeze_excite(tf.constant(images), squeeze_factor=2)
        variables = tf.global_variables()
        assert [f"{v.op.name} {v.shape.as_list()}" for v in variables] == [
            "squeeze_excite/Conv/weights [1, 1, 16, 8]",
            "squeeze_excite/Conv/biases [8]",
            "squeeze_excite/Conv_1/weights [1, 1, 8, 16]",
            "squeeze_excite/Conv_1/biases [16]",
        ]
        values = [random.normal(size=v.shape).astype(np.float32) for v in variables]
        session.run([v.assign(value) for v, value in zip(variables, values, strict=True)])
        result = session.run(weighed)
    first, first_bias, second, second_bias = values
    squeezed = np.maximum(images.mean(axis=(1, 2)) @ first[0, 0] + first_bias, 0)
    weights = 1 / (1 + np.exp(-(squeezed @ second[0, 0] + second_bias)))
    np.testing.assert_allclose(result, images * weights[:, None, None], rtol=1e-4, atol=1e-5)
