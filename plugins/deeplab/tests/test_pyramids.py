"""Pyramids other than the default one, windows of image pooling, and aligned corners."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import InputInfo, Mode
from tf_frame.errors import ConfigError
from tf_frame_deeplab.blocks import Blocks, scaled_size
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.pyramids import pyramid

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=3)
SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}
FEATURES = np.random.RandomState(0).uniform(size=[1, 5, 7, 8]).astype(np.float32)


def build(**params):
    model = DeepLab(params=Params(**{**SMALL, **params}), info=INFO)
    return model.build({"image": tf.zeros([1, 65, 65, 3])}, None, Mode.PREDICT)


def build_pyramid(features, **params):
    params = Params(**{**SMALL, **params})
    blocks = Blocks(is_training=False, params=params)
    return pyramid(tf.constant(features), params, blocks)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pyramid": "lite", "atrous_rates": (6,)}, "lite has no atrous branches"),
        ({"pyramid": "plain", "atrous_rates": (6,)}, "plain has no atrous branches"),
        ({"image_pooling_crop_size": (65,)}, "crop_size 65: give two numbers"),
        (
            {"image_pooling_crop_size": (65, 65), "image_pooling_stride": (1,)},
            "stride 1: give two numbers",
        ),
        ({"image_pooling_stride": (4, 5)}, "no effect without --model.image_pooling_crop_size"),
        (
            {"image_pooling_crop_size": (65, 65), "image_pooling": False},
            "no effect with --model.image_pooling=false",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        build(**params)


def test_the_plain_pyramid_has_no_atrous_branches():
    output = build_pyramid(FEATURES, pyramid="plain")
    shapes = {v.op.name: v.shape.as_list() for v in tf.trainable_variables()}
    weights = {name: shape for name, shape in shapes.items() if "BatchNorm" not in name}
    assert weights == {
        "aspp0/weights": [1, 1, 8, 8],
        "image_pooling/weights": [1, 1, 8, 8],
        "concat_projection/weights": [1, 1, 16, 8],
    }
    assert output.shape == [1, 5, 7, 8]


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_lite_pyramid_has_deeplabs_names_and_a_decoder_for_each_head():
    output = build(pyramid="lite", output_stride=32, align_corners=True, heads=("semantic", "edge"))
    rest = {
        v.op.name: v.shape.as_list()
        for v in tf.global_variables()
        if not v.op.name.startswith("MobilenetV2/") and "BatchNorm" not in v.op.name
    }
    assert list(rest) == [
        "aspp0/weights",
        *(f"image_pooling/{kind}" for kind in ("weights", "biases")),
        *(
            f"decoder/{layer}{head}/{kind}"
            for head in ("", "_edge")
            for layer in ("feature_projection0", "decoder_conv0")
            for kind in ("weights", "biases")
        ),
    ]
    assert rest["decoder/decoder_conv0/weights"] == [1, 1, 8, 3]
    assert rest["decoder/feature_projection0_edge/weights"][3] == 2
    assert output.end_points["logits"].shape == [1, 17, 17, 3]
    assert output.end_points["logits/edge"].shape == [1, 17, 17, 2]


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_lite_pyramid_without_a_decoder_has_logits_of_its_own():
    output = build(pyramid="lite", decoder_channels=0, image_pooling=False)
    names = [v.op.name for v in tf.global_variables()]
    assert "logits/semantic/weights" in names
    assert not [name for name in names if name.startswith(("decoder", "image_pooling"))]
    assert output.end_points["logits"].shape == [1, 5, 5, 3]


def test_means_over_the_image_weigh_the_channels_of_the_lite_pyramid():
    output = build_pyramid(FEATURES, pyramid="lite")
    variables = {v.op.name: v for v in tf.global_variables()}
    names = ("aspp0/weights", "image_pooling/weights", "image_pooling/biases")
    with initialized_session() as session:
        session.run(tf.assign(variables["image_pooling/biases"], np.linspace(-4, 4, 8)))
        result, *values = session.run([output, *(variables[name] for name in names)])
    weights, gates, biases = values
    # A new batch norm only divides, by the root of 1 + epsilon.
    features = np.maximum(FEATURES @ weights[0, 0], 0) / np.sqrt(1 + 1e-5)
    means = FEATURES.mean(axis=(1, 2)) @ gates[0, 0] + biases
    expected = features * (np.clip(means + 3, 0, 6) / 6)[:, None, None]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)
    assert not expected[..., 0].any() and expected[..., 7].any()


def test_windows_of_image_pooling_have_the_size_of_a_crop(graph):
    """At stride 16 a crop of 33 x 65 pixels has 3 x 5 features: 3 x 2 windows of 5 x 7."""
    build_pyramid(FEATURES, image_pooling_crop_size=(33, 65), image_pooling_stride=(1, 2))
    (pooling,) = [op for op in graph.get_operations() if op.type == "AvgPool"]
    means = run_initialized(pooling.outputs[0])
    assert means.shape == (1, 3, 2, 8)
    np.testing.assert_allclose(means[0, 1, 1], FEATURES[0, 1:4, 2:7].mean((0, 1)), rtol=1e-5)


@pytest.mark.slow
def test_a_window_of_the_size_of_the_image_changes_nothing_and_a_larger_one_is_refused():
    plain = build_pyramid(FEATURES)
    with tf.variable_scope("", reuse=True):
        window = build_pyramid(FEATURES, image_pooling_crop_size=(65, 97))
    np.testing.assert_allclose(*run_initialized([plain, window]), rtol=1e-4, atol=1e-6)
    message = "features of 5 x 7 are smaller than the 7 x 5"
    with tf.Graph().as_default(), pytest.raises(ConfigError, match=message):
        build_pyramid(FEATURES, image_pooling_crop_size=(97, 65))


@pytest.mark.slow
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("aligned", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_all_that_is_resized_is_aligned_or_nothing(aligned, graph):
    """Images, pooled features, features in the decoder, logits of a scale and the last logits."""
    build(align_corners=aligned, image_pyramid=(0.5, 1.0))
    resized = [op for op in graph.get_operations() if op.type == "ResizeBilinear"]
    assert len(resized) == 7
    assert {op.get_attr("align_corners") for op in resized} == {aligned}
    assert {op.get_attr("half_pixel_centers") for op in resized} == {not aligned}


def test_aligned_corners_keep_their_values_and_the_rest_lies_in_a_line():
    """As `tf.image.resize_bilinear(..., align_corners=True)`, by its definition."""
    blocks = Blocks(is_training=False, params=Params(align_corners=True))
    line = tf.constant([[[[0.0], [4.0], [6.0]]]])
    resized = run_initialized(blocks.resize(line, like=tf.zeros([1, 1, 9, 1])))
    np.testing.assert_allclose(resized.ravel(), [0, 1, 2, 3, 4, 4.5, 5, 5.5, 6])


@pytest.mark.parametrize("factor", [0.5, 0.75, 1.5, 1 / 16, 1 / 32])
def test_sizes_are_scaled_from_centre_to_centre(factor):
    expected = [int((side - 1) * factor) + 1 for side in (513, 1025)]
    assert scaled_size([513, 1025], factor) == expected
    assert run_initialized(scaled_size(tf.constant([513, 1025]), factor)).tolist() == expected
