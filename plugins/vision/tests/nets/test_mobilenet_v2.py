"""MobileNet, version 2.

The tables of variables were made by tensorflow/models, research/slim, with tf_slim 1.1.0.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import mobilenet_v2
from tf_frame_vision.nets.conv_blocks import expanded_conv
from tf_frame_vision.nets.mobilenet import op


def layout(*numbers):
    """Some of the network's layers, for a shorter one."""
    return {**mobilenet_v2.V2_DEF, "spec": [mobilenet_v2.V2_DEF["spec"][n - 1] for n in numbers]}


@pytest.mark.slow
@pytest.mark.parametrize("num_clones", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_variables_and_end_points_of_clones_are_those_of_slim(
    build_clones, num_clones, variables_in, slim_variables
):
    def network():
        with layers.arg_scope(mobilenet_v2.training_scope(bn_decay=0.9)):
            outputs = mobilenet_v2.mobilenet(tf.zeros([2, 224, 224, 3]))
        return outputs[0], outputs

    graph, clones = build_clones(network, num_clones)
    variables = slim_variables("mobilenet_v2")
    assert variables_in(graph) == variables
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * num_clones * 52
    sizes = [np.prod(shape) for name, shape in variables if "BatchNorm" not in name]
    assert round(sum(sizes) / 1e6, 2) == 3.47
    for logits, end_points in clones:
        assert logits.shape.as_list() == [2, 1001]
        shapes = {name: tensor.shape.as_list() for name, tensor in end_points.items()}
        numbered = [f"layer_{number}" for number in range(1, 20)]
        blocks = numbered[1:18]
        extra = [f"{name}/{kind}" for name in blocks for kind in ("depthwise_output", "output")]
        extra += [f"{name}/expansion_output" for name in blocks[1:]]
        assert set(shapes) == {*numbered, *extra, "global_pool", "Logits", "Predictions"}
        assert shapes["layer_1"] == [2, 112, 112, 32]
        assert shapes["layer_15/expansion_output"] == [2, 14, 14, 576]
        assert shapes["layer_15/depthwise_output"] == [2, 7, 7, 576]
        assert shapes["layer_18/output"] == [2, 7, 7, 320]
        assert shapes["layer_19"] == [2, 7, 7, 1280]
        assert shapes["global_pool"] == [2, 1, 1, 1280]
        assert end_points["layer_18/output"] is end_points["layer_18"]


@pytest.mark.slow
def test_outside_the_training_scope_nothing_is_trained():
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 3])
        options = {"depth_multiplier": 0.1, "conv_defs": layout(1, 2, 3, 5, 19)}
        logits, end_points = mobilenet_v2.mobilenet(images, 5, **options)
        assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        session.run(tf.global_variables_initializer())
        feed = {images: np.random.RandomState(0).normal(size=[2, 40, 70, 3])}
        first, pooled, last = session.run(
            [logits, end_points["global_pool"], end_points["layer_5"]], feed
        )
        assert last.shape == (2, 5, 9, 128)
        np.testing.assert_allclose(pooled[:, 0, 0], last.mean(axis=(1, 2)), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(session.run(logits, feed), first)
        net, _ = mobilenet_v2.mobilenet(images, None, reuse=True, **options)
        np.testing.assert_array_equal(session.run(net, feed), pooled)


def test_training_scope_sets_decay_dropout_and_penalty():
    with tf.Graph().as_default(), tf.Session() as session:
        scope = mobilenet_v2.training_scope(bn_decay=0.25, weight_decay=0.5, stddev=0.01)
        short = layout(1, 2)
        with layers.arg_scope(scope):
            images = tf.constant(np.random.RandomState(0).normal(size=[2, 8, 8, 3]), tf.float32)
            net, _ = mobilenet_v2.mobilenet(images, 4, conv_defs=short)
            frozen, _ = mobilenet_v2.mobilenet(
                images, 4, conv_defs=short, is_training=False, reuse=True
            )
        session.run(tf.global_variables_initializer())
        weights = tf.global_variables("MobilenetV2/Conv/weights")[0]
        convolved = tf.nn.conv2d(images, weights, 2, "SAME")
        mean = tf.reduce_mean(convolved, [0, 1, 2])
        penalty = tf.losses.get_regularization_losses("MobilenetV2/Conv/")[0]
        assert session.run(penalty / tf.nn.l2_loss(weights)) == pytest.approx(0.5)
        assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 3
        # Dropout differs from call to call, where it is on.
        assert np.abs(session.run(net) - session.run(net)).max() > 0
        np.testing.assert_array_equal(session.run(frozen), session.run(frozen))
        expected = session.run(mean) * 0.75
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        moving = session.run(tf.global_variables("MobilenetV2/Conv/BatchNorm/moving_mean")[0])
        np.testing.assert_allclose(moving, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_dilated_features_are_the_strided_ones_on_a_finer_grid(check_dilated_features):
    check_dilated_features(
        mobilenet_v2.mobilenet_base,
        mobilenet_v2.training_scope(is_training=False),
        conv_defs=layout(1, 2, 3, 5, 6, 8, 15, 16),
    )


def test_numbers_of_channels_follow_their_options():
    with tf.Graph().as_default():
        images = tf.zeros([1, 32, 32, 3])
        options = {"depth_multiplier": 0.1, "conv_defs": layout(1, 19)}
        net, _ = mobilenet_v2.mobilenet_base(images, divisible_by=3, min_depth=9, **options)
        # The first: 3.2; the last: 128.
        assert tf.global_variables("MobilenetV2/Conv/weights")[0].shape[-1] == 9
        assert net.shape[-1] == 129
        net, _ = mobilenet_v2.mobilenet_base(
            images, finegrain_classification_mode=True, scope="fine", **options
        )
        assert net.shape[-1] == 1280


def test_layers_and_activation_can_be_others():
    spec = [
        op(layers.conv2d, num_outputs=8, kernel_size=[3, 3], stride=2),
        op(expanded_conv, num_outputs=16, expansion_size=32, split_expansion=2, split_projection=2),
    ]
    own = {**mobilenet_v2.V2_DEF, "spec": spec}
    with tf.Graph().as_default():
        net, end_points = mobilenet_v2.mobilenet_base(
            tf.zeros([1, 8, 8, 3]), conv_defs=own, activation_fn=tf.nn.elu
        )
        assert net.shape.as_list() == [1, 4, 4, 16]
        assert end_points["layer_1"].op.type == "Elu"
        # Eight channels are too few to split; 32 are not.
        assert "layer_2/expansion_output" in end_points
        names = [v.op.name.split("/", 2)[2] for v in tf.global_variables("MobilenetV2/expanded")]
        weights = [name for name in names if name.endswith("weights")]
        assert weights == [
            "expand/weights",
            "depthwise/depthwise_weights",
            "project_part_0/weights",
            "project_part_1/weights",
        ]


def test_wrong_arguments_are_refused():
    with tf.Graph().as_default():
        images = tf.zeros([1, 8, 8, 3])
        with pytest.raises(ValueError, match='use "depth_multiplier" instead'):
            mobilenet_v2.mobilenet(images, multiplier=2)
        with pytest.raises(ValueError, match="multiplier is not greater than zero: 0"):
            mobilenet_v2.mobilenet(images, depth_multiplier=0)
        with pytest.raises(ValueError, match="Output stride must be None, 1 or a multiple of 2"):
            mobilenet_v2.mobilenet(images, output_stride=3)
        with pytest.raises(ValueError, match="Expected rank 4 input, was: 3"):
            mobilenet_v2.mobilenet(images[0])
        with pytest.raises(TypeError, match="'top' is unknown value for depthwise_location"):
            expanded_conv(images, 8, depthwise_location="top")
        with pytest.raises(TypeError, match="should only be used with"):
            expanded_conv(images, 8, use_explicit_padding=True, padding="VALID")
