"""MobileNetV2 (https://arxiv.org/abs/1801.04381); source: slim, nets/mobilenet/mobilenet_v2.py.

with layers.arg_scope(mobilenet_v2.training_scope()):
    logits, end_points = mobilenet_v2.mobilenet(images)
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import mobilenet as lib
from tf_frame_vision.nets.conv_blocks import expand_input_by_factor, expanded_conv
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.mobilenet import Op, op

_CONVOLUTIONS = (layers.conv2d, layers.fully_connected, layers.separable_conv2d)

# (expansion, output channels, blocks, stride of the first block): table 2 of the paper.
_STAGES = (
    (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip


def _spec() -> list[Op]:
    narrow = expand_input_by_factor(1, divisible_by=1)
    blocks = [op(expanded_conv, expansion_size=narrow, num_outputs=16)]
    for factor, channels, count, first_stride in _STAGES:
        expansion = expand_input_by_factor(factor)
        for stride in [first_stride] + [1] * (count - 1):
            blocks.append(
                op(expanded_conv, expansion_size=expansion, stride=stride, num_outputs=channels)
            )
    stem = op(layers.conv2d, stride=2, num_outputs=32, kernel_size=[3, 3])
    return [stem, *blocks, op(layers.conv2d, stride=1, kernel_size=[1, 1], num_outputs=1280)]


V2_DEF: dict[str, Any] = {
    "defaults": {
        (layers.batch_norm,): {"center": True, "scale": True},
        _CONVOLUTIONS: {"normalizer_fn": layers.batch_norm, "activation_fn": tf.nn.relu6},
        (expanded_conv,): {"normalizer_fn": layers.batch_norm, "residual": True},
        (layers.conv2d, layers.separable_conv2d): {"padding": "SAME"},
    },
    "spec": _spec(),
}


@default_image_size(224)
@layers.add_arg_scope
def mobilenet(
    input_tensor: Any,
    num_classes: int | None = 1001,
    depth_multiplier: float = 1.0,
    scope: Any = "MobilenetV2",
    conv_defs: Mapping[str, Any] | None = None,
    finegrain_classification_mode: bool = False,
    min_depth: int | None = None,
    divisible_by: int | None = None,
    activation_fn: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """Builds MobileNetV2; in inference mode unless within `training_scope()`.

    Args:
      conv_defs: other layers than `V2_DEF`.
      finegrain_classification_mode: whether the last layer keeps its 1280
        channels where the multiplier is less than 1.
      divisible_by: what numbers of channels are rounded to.
      activation_fn: instead of `tf.nn.relu6`.
      **kwargs: for `mobilenet.mobilenet`: `prediction_fn`, `reuse`,
        `final_endpoint`, `output_stride`, `use_explicit_padding`, `is_training` ...
    """
    if "multiplier" in kwargs:
        raise ValueError(
            "mobilenetv2 doesn't support generic multiplier parameter; "
            'use "depth_multiplier" instead.'
        )
    conv_defs = copy.deepcopy(dict(conv_defs or V2_DEF))
    if finegrain_classification_mode and depth_multiplier < 1:
        conv_defs["spec"][-1].params["num_outputs"] /= depth_multiplier
    if activation_fn is not None:
        conv_defs["defaults"][_CONVOLUTIONS]["activation_fn"] = activation_fn
    rounding = {"min_depth": min_depth, "divisible_by": divisible_by}
    with lib.safe_arg_scope((lib.depth_multiplier,), **rounding):
        return lib.mobilenet(
            input_tensor,
            num_classes=num_classes,
            conv_defs=conv_defs,
            scope=scope,
            multiplier=depth_multiplier,
            **kwargs,
        )


@layers.add_arg_scope
def mobilenet_base(
    input_tensor: Any, depth_multiplier: float = 1.0, **kwargs: Any
) -> tuple[Any, dict[str, Any]]:
    """Builds the layers before pooling and logits; arguments as those of `mobilenet`.

    Returns:
      `[batch, height / 32, width / 32, 1280]`, and end points.
    """
    arguments = {"depth_multiplier": depth_multiplier, "base_only": True, **kwargs}
    net, end_points = mobilenet(input_tensor, **arguments)
    return net, end_points


training_scope = lib.training_scope


def _with(**arguments: Any) -> Any:
    return functools.update_wrapper(functools.partial(mobilenet, **arguments), mobilenet)


# The multipliers of published checkpoints; below 1 they kept the last layer's size.
mobilenet_v2_140 = _with(depth_multiplier=1.4)
mobilenet_v2_130 = _with(depth_multiplier=1.3)
mobilenet_v2_075 = _with(depth_multiplier=0.75, finegrain_classification_mode=True)
mobilenet_v2_050 = _with(depth_multiplier=0.5, finegrain_classification_mode=True)
mobilenet_v2_035 = _with(depth_multiplier=0.35, finegrain_classification_mode=True)
