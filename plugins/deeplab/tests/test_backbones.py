"""The model on other backbones than MobileNetV2, and decoders of several stages."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame.errors import ConfigError, PluginError
from tf_frame_deeplab.model import DeepLab, Params

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=3)
# Backbone -> scope of its variables.
BACKBONES = {
    "mobilenet_v2_035": "MobilenetV2",
    "mobilenet_v3_small": "MobilenetV3",
    "resnet_v1_50_beta": "resnet_v1_50",
    "xception_41": "xception_41",
    "mobilenet_v3_large": "MobilenetV3",
    "resnet_v1_50": "resnet_v1_50",
    "resnet_v1_101_beta": "resnet_v1_101",
    "xception_65": "xception_65",
    "xception_71": "xception_71",
}


def build(**params):
    small = {"aspp_channels": 8, "decoder_channels": 8, "align_corners": True}
    model = DeepLab(params=Params(**{**small, **params}), info=INFO)
    return model.build({"image": tf.zeros([1, 65, 65, 3])}, None, Mode.PREDICT)


def names():
    return [variable.op.name for variable in tf.global_variables()]


# A ResNet is always tested; `test_network.py` has a MobileNet.
BY_DEFAULT = {("resnet_v1_50_beta", 16)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backbone", "stride"),
    [
        pytest.param(*case, marks=() if case in BY_DEFAULT else pytest.mark.slow)
        for case in itertools.product(BACKBONES, [8, 16, 32])
    ],
)
def test_each_backbone_has_its_names_and_strides(backbone, stride):
    output = build(backbone=backbone, output_stride=stride)
    size = -(-65 // stride)
    assert output.end_points["concat_projection"].shape.as_list()[1:] == [size, size, 8]
    assert output.end_points["logits"].shape.as_list()[1:] == [17, 17, 3]
    assert output.predictions["semantic"].shape.as_list()[1:] == [65, 65]
    assert names()[0].startswith(f"{BACKBONES[backbone]}/")
    assert "decoder/feature_projection0/weights" in names()


@pytest.mark.slow
def test_a_decoder_may_have_several_stages():
    output = build(output_stride=32, decoder_output_stride=(16, 8, 4), depth_multiplier=0.1)
    assert output.end_points["decoder"].shape.as_list()[1:3] == [17, 17]
    projections = [name for name in names() if "feature_projection" in name and "weights" in name]
    assert projections == [
        f"decoder/feature_projection0{suffix}/weights" for suffix in ("", "_1", "_2")
    ]
    assert "decoder/decoder_conv1_2_pointwise/weights" in names()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backbone", "means"),
    [("mobilenet_v2_035", []), ("resnet_v1_50", [[123.15, 115.9, 103.06]])],
)
def test_pixels_are_those_that_deeplab_gives_the_backbone(backbone, means):
    images = tf.placeholder(tf.float32, [1, 32, 32, 3])
    model = DeepLab(params=Params(backbone=backbone, decoder_channels=0), info=INFO)
    model.build({"image": images}, None, Mode.PREDICT)
    subtractions = [op for op in images.consumers() if op.type == "Sub"]
    subtracted = [tf.get_static_value(op.inputs[1]) for op in subtractions]
    np.testing.assert_allclose(subtracted, means)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"backbone": "lenet"}, "has no feature maps by stride"),
        ({"backbone": "xception_56"}, "xception_65"),
        ({"multi_grid": (1, 2, 4)}, "multi_grid"),
        ({"decoder_output_stride": (4, 8)}, "each stride must be less than its predecessor"),
        ({"decoder_output_stride": (16,)}, "the first less than the 16 of --model.output_stride"),
        ({"decoder_output_stride": ()}, "--model.decoder_channels 0 leaves the decoder out"),
    ],
)
def test_what_a_backbone_or_decoder_cannot_do_is_refused(params, expected):
    with pytest.raises((ConfigError, PluginError), match=expected):
        build(**params)
