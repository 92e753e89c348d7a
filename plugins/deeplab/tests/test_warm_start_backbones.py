"""Every backbone of deeplab starts from a checkpoint with its own names, or with a prefix."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, save_values
from tf_frame import InputInfo, Mode
from tf_frame.checkpoint.warm_start.plan import candidate_variables, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame_deeplab.model import DeepLab, Params

# The test of the command line takes mobilenet_v2, and tf-frame-vision's tests some more by default.
pytestmark = [pytest.mark.slow, pytest.mark.process]
# Backbone -> scope of its variables.
SCOPES = {
    **{f"mobilenet_v2{width}": "MobilenetV2" for width in ("", "_140", "_130", "_075", "_050")},
    "mobilenet_v2_035": "MobilenetV2",
    **{
        f"mobilenet_v3_{size}{kind}": "MobilenetV3"
        for size in ("small", "large")
        for kind in ("", "_seg", "_minimalistic")
    },
    **{
        f"resnet_v1_{layers}{kind}": f"resnet_v1_{layers}"
        for layers in (50, 101)
        for kind in ("", "_beta")
    },
    **{f"xception_{layers}": f"xception_{layers}" for layers in (41, 65, 71)},
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def build(backbone, **params):
    small = {"aspp_channels": 8, "decoder_channels": 8}
    if not backbone.startswith("mobilenet_v2_"):  # These have their width in the name.
        small["depth_multiplier"] = 0.1
    model = DeepLab(
        params=Params(backbone=backbone, **small, **params), info=InputInfo(num_classes=19)
    )
    model.build({"image": tf.zeros([1, 33, 33, 3])}, None, Mode.PREDICT)
    return {v.op.name: v.shape.as_list() for v in tf.global_variables()}


@pytest.mark.parametrize("backbone", SCOPES)
@pytest.mark.parametrize("prefix", ["", "FeatureExtractor/"])
def test_all_of_the_backbone_and_nothing_else_is_restored(backbone, prefix, tmp_path):
    scope, every = SCOPES[backbone], build(backbone)
    shapes = {name: shape for name, shape in every.items() if name.startswith(f"{scope}/")}
    # A detector's checkpoint has other layers, too, and one of a classifier has its logits.
    saved = {prefix + name: np.full(shape, 0.5, np.float32) for name, shape in shapes.items()}
    saved |= {f"{prefix}{scope}/Logits/weights": [0.5] * 3, "global_step": [0.5]}
    options = WarmStartOptions(
        warm_start_from=save_values(tmp_path / "foreign", saved),
        warm_start_include=(f"{scope}/",),
        warm_start_map=(rf"{scope}/(.*)={prefix}{scope}/\1",) if prefix else (),
    )
    variables = candidate_variables()
    plan = plan_warm_start(options, variables)
    assert f"{len(shapes)} of {len(every)} variables restored" in plan.summary()
    with initialized_session() as session:
        plan.init_fn(tf.train.Scaffold(), session)
        values = session.run({v.op.name: v for v in variables})
    assert all((values[name] == 0.5).all() for name in shapes)
    assert not (values["logits/semantic/weights"] == 0.5).any()


def test_names_of_the_published_xception():
    """The names of xception65_cityscapes_trainfine, whole.

    Source: programs that convert it to PyTorch read each of its layers by name:
    `xception_65/entry_flow/block1/unit_1/xception_module/shortcut` and so on to `logits/semantic`.
    """
    names = build("xception_65")
    unit = "unit_{}/xception_module"
    blocks = [
        *(f"entry_flow/block{block}/{unit.format(1)}" for block in (1, 2, 3)),
        *(f"middle_flow/block1/{unit.format(number)}" for number in range(1, 17)),
        *(f"exit_flow/block{block}/{unit.format(1)}" for block in (1, 2)),
    ]
    separable = [
        *(f"xception_65/{b}/separable_conv{i}" for b in blocks for i in (1, 2, 3)),
        *("aspp1", "aspp2", "aspp3", "decoder/decoder_conv0", "decoder/decoder_conv1"),
    ]
    # The middle flow and the last block have no convolution next to their sum.
    shortcuts = [b for b in blocks if "middle" not in b and b != blocks[-1]]
    full = [
        *(f"xception_65/entry_flow/conv1_{index}" for index in (1, 2)),
        *(f"xception_65/{block}/shortcut" for block in shortcuts),
        *(f"{layer}_pointwise" for layer in separable),
        *("aspp0", "image_pooling", "concat_projection", "decoder/feature_projection0"),
    ]
    depthwise = [f"{layer}_depthwise" for layer in separable]
    parts = ("gamma", "beta", "moving_mean", "moving_variance")
    norms = itertools.product([*full, *depthwise], parts)
    assert set(names) == {
        *(f"{layer}/weights" for layer in full),
        *(f"{layer}/depthwise_weights" for layer in depthwise),
        *(f"{layer}/BatchNorm/{part}" for layer, part in norms),
        *("logits/semantic/weights", "logits/semantic/biases"),
    }
