"""MobileNet, version 1.

The tables of variables were made by tensorflow/models, research/slim, with tf_slim 1.1.0.
"""

import functools
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_values
from tf_frame import layers
from tf_frame.checkpoint.warm_start.plan import candidate_variables, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame_vision.nets import mobilenet_v1


def count(variables):
    return sum(v.shape.num_elements() for v in variables)


def build(images, *args, network=mobilenet_v1.mobilenet_v1, is_training=False, **kwargs):
    with layers.arg_scope(mobilenet_v1.mobilenet_v1_arg_scope(is_training=is_training)):
        return network(images, *args, is_training=is_training, **kwargs)


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.slow)])
def clones(build_clones, request):
    """Logits and end points of clones in training mode, and their graph."""

    def network():
        outputs = build(tf.zeros([2, 224, 224, 3]), 1001, is_training=True)
        return outputs[0], outputs

    return build_clones(network, request.param)


@pytest.mark.slow
def test_a_checkpoint_with_slims_names_is_restored_whole(
    clones, tmp_path, slim_variables, variables_in
):
    """Moving means and variances included, 21,888 values; 4,233,001 are trained.

    https://github.com/tensorflow/models/blob/master/research/slim/nets/mobilenet_v1.md says
    4.24 million; the table in slim's mobilenet_v1.py 3,185,088 for all kernels but the logits'.
    """
    graph, _ = clones
    assert variables_in(graph) == slim_variables("mobilenet_v1")
    variables = graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    trained = graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
    assert (len(variables), count(variables)) == (137, 4_254_889)
    assert (len(trained), count(trained)) == (83, 4_233_001)
    assert count(trained) == pytest.approx(4.24e6, rel=0.002)
    kernels = [v for v in trained if v.op.name.endswith("weights") and "Logits" not in v.op.name]
    assert count(kernels) == 3_185_088
    # A checkpoint with slims names is restored whole.
    random = np.random.RandomState(0)
    values = {
        name: random.normal(size=shape).astype(np.float32)
        for name, shape in slim_variables("mobilenet_v1")
    }
    path = save_values(tmp_path / "mobilenet_v1_1.0_224.ckpt", values)
    with clones[0].as_default(), tf.Session() as session:
        plan = plan_warm_start(WarmStartOptions(warm_start_from=path), candidate_variables())
        assert plan.summary().endswith("137 of 137 variables restored")
        plan.init_fn(None, session)
        restored = session.run({v.op.name: v for v in tf.global_variables()})
    assert restored.keys() == values.keys()
    for name, value in values.items():
        np.testing.assert_array_equal(restored[name], value)


def test_end_points_and_penalties_are_slims(clones):
    sizes = [112, 112, 56, 56, 28, 28, 14, 14, 14, 14, 14, 14, 7, 7]
    depths = [32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024]
    expected = {"Conv2d_0": [2, 112, 112, 32]}
    for index in range(1, 14):
        size = sizes[index]
        expected[f"Conv2d_{index}_depthwise"] = [2, size, size, depths[index - 1]]
        expected[f"Conv2d_{index}_pointwise"] = [2, size, size, depths[index]]
    expected |= {"AvgPool_1a": [2, 1, 1, 1024], "Logits": [2, 1001], "Predictions": [2, 1001]}
    for logits, end_points in clones[1]:
        assert {name: end_points[name].shape.as_list() for name in end_points} == expected
        assert end_points["Logits"] is logits
    # Depthwise weights pay no penalty unless asked to.
    penalties = clones[0].get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert len(penalties) == 15
    assert not [p for p in penalties if "depthwise" in p.op.name]
    with tf.Graph().as_default():
        scope = mobilenet_v1.mobilenet_v1_arg_scope(regularize_depthwise=True)
        with layers.arg_scope(scope):
            mobilenet_v1.mobilenet_v1_base(tf.zeros([1, 8, 8, 3]), "Conv2d_1_pointwise")
        assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 3


@pytest.mark.slow
def test_thin_network_under_reference_variables_has_the_same_names(
    reference_variables, graph, variables_in, slim_variables
):
    build(tf.zeros([2, 224, 224, 3]), 1001, network=mobilenet_v1.mobilenet_v1_025)
    variables = tf.global_variables()
    assert {v.op.type for v in variables} == {"VariableV2"}
    assert variables_in(graph) == slim_variables("mobilenet_v1_025")
    # Published: 0.47 million.
    assert count(v for v in variables if "moving" not in v.op.name) == 470_329


@pytest.mark.slow
def test_sizes_of_images_and_windows_differ():
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 3])
        logits, end_points = build(
            images, 5, depth_multiplier=0.25, global_pool=True, spatial_squeeze=False
        )
        assert logits.shape.as_list() == [None, 1, 1, 5]
        session.run(tf.global_variables_initializer())
        feed = {images: np.random.RandomState(0).normal(size=[1, 70, 40, 3])}
        wanted = [end_points["global_pool"], end_points["Conv2d_13_pointwise"]]
        pooled, last = session.run(wanted, feed)
        assert last.shape == (1, 3, 2, 256)
        np.testing.assert_allclose(pooled[:, 0, 0], last.mean(axis=(1, 2)), rtol=1e-4)
    # Fixed windows suit small images and large ones.
    with tf.Graph().as_default():
        small, end_points = build(tf.zeros([1, 32, 32, 3]), None, depth_multiplier=0.25)
        assert small.shape.as_list() == [1, 1, 1, 256]
        assert small is end_points["AvgPool_1a"]
        assert not [v for v in tf.global_variables() if "Logits" in v.op.name]
        large, _ = build(
            tf.zeros([1, 352, 288, 3]), None, depth_multiplier=0.25, reuse=tf.AUTO_REUSE
        )
        assert large.shape.as_list() == [1, 3, 2, 256]


@pytest.mark.slow
def test_dilated_features_are_the_strided_ones_on_a_finer_grid(check_dilated_features):
    kept = [mobilenet_v1.MOBILENETV1_CONV_DEFS[index] for index in (0, 1, 2, 4, 5, 6, 7, 12, 13)]
    check_dilated_features(
        mobilenet_v1.mobilenet_v1_base,
        mobilenet_v1.mobilenet_v1_arg_scope(is_training=False),
        conv_defs=kept,
        final_endpoint="Conv2d_8_pointwise",
        scope="MobilenetV1",
    )


def test_networks_end_early_have_other_layers_and_four_dimensions():
    with tf.Graph().as_default():
        images = tf.zeros([1, 32, 32, 3])
        base = functools.partial(mobilenet_v1.mobilenet_v1_base, images, depth_multiplier=0.25)
        net, end_points = base("Conv2d_2_depthwise")
        assert net.shape.as_list() == [1, 8, 8, 16]
        assert list(end_points)[-2:] == ["Conv2d_1_pointwise", "Conv2d_2_depthwise"]
        layout = [mobilenet_v1.Conv([5, 3], 2, 8), mobilenet_v1.DepthSepConv([3, 3], 1, 100)]
        net, _ = base("Conv2d_1_pointwise", conv_defs=layout, min_depth=30, scope="own")
        assert net.shape.as_list() == [1, 16, 16, 30]
        assert tf.global_variables("own/Conv2d_0/weights")[0].shape == [5, 3, 3, 30]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="rank, expected 4, was: 3"):
        mobilenet_v1.mobilenet_v1(tf.zeros([32, 32, 3]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"final_endpoint": "Conv2d_14"}, "Unknown final endpoint Conv2d_14"),
        ({"output_stride": 4}, "Only allowed output_stride values are 8, 16, 32. It is 4."),
        ({"depth_multiplier": 0}, "depth_multiplier is not greater than zero"),
        ({"conv_defs": [[3, 1, 8]]}, "Unknown convolution type list for layer 0"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=re.escape(message)):
        mobilenet_v1.mobilenet_v1_base(tf.zeros([1, 32, 32, 3]), **options)
