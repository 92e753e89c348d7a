"""MobileNetV3 (https://arxiv.org/abs/1905.02244) with the names of slim's checkpoints.

    with layers.arg_scope(mobilenet_v3.training_scope()):
        logits, end_points = mobilenet_v3.large(images)

Built from tables 1 and 2 of the paper. Variables are named by slim's rules, such as
`MobilenetV3/expanded_conv_3/squeeze_excite/Conv/weights`; no published checkpoint was at hand to
compare names with. Tests compare shapes, numbers of parameters and, with equal weights, logits with
`MobileNetV3Small` and `Large` of `keras.applications`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import mobilenet as lib
from tf_frame_vision.nets.conv_blocks import (
    expand_input_by_factor,
    expanded_conv,
    squeeze_excite,
)
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.mobilenet import Op, op


def hard_swish(inputs: Any) -> Any:
    """Returns `x * relu6(x + 3) / 6`, equation in section 5.2 of the paper."""
    return tf.multiply(inputs, hard_sigmoid(inputs), name="hard_swish")


def hard_sigmoid(inputs: Any) -> Any:
    """Returns `relu6(x + 3) / 6`."""
    return tf.nn.relu6(inputs + 3.0) * (1.0 / 6.0)


def reduce_to_1x1(input_tensor: Any, **_: Any) -> Any:
    """Averages over height and width, as a layer for `op`.

    Returns:
      `[batch, 1, 1, channels]`.
    """
    return lib.global_pool(input_tensor)


_CONVOLUTIONS = (layers.conv2d, layers.fully_connected, layers.separable_conv2d)
_DEFAULTS = {
    (layers.batch_norm,): {"center": True, "scale": True},
    (expanded_conv,): {"normalizer_fn": layers.batch_norm, "residual": True},
    _CONVOLUTIONS: {"normalizer_fn": layers.batch_norm, "activation_fn": tf.nn.relu},
}

_GROUPS = 8


def _group_norm_defaults(groups: int) -> dict[Any, Any]:
    return {
        (layers.group_norm,): {"groups": groups},
        (expanded_conv,): {"normalizer_fn": layers.group_norm, "residual": True},
        _CONVOLUTIONS: {"normalizer_fn": layers.group_norm, "activation_fn": tf.nn.relu},
    }


# A block: expanded channels, kernel, stride, output channels, squeeze and excite, hard swish.
# Expanded channels are given for the full width of the network.
_LARGE = (
    (16, 3, 1, 16, False, False),
    (64, 3, 2, 24, False, False),
    (72, 3, 1, 24, False, False),
    (72, 5, 2, 40, True, False),
    (120, 5, 1, 40, True, False),
    (120, 5, 1, 40, True, False),
    (240, 3, 2, 80, False, True),
    (200, 3, 1, 80, False, True),
    (184, 3, 1, 80, False, True),
    (184, 3, 1, 80, False, True),
    (480, 3, 1, 112, True, True),
    (672, 3, 1, 112, True, True),
    (672, 5, 2, 160, True, True),
    (960, 5, 1, 160, True, True),
    (960, 5, 1, 160, True, True),
)
_SMALL = (
    (16, 3, 2, 16, True, False),
    (72, 3, 2, 24, False, False),
    (88, 3, 1, 24, False, False),
    (96, 5, 2, 40, True, True),
    (240, 5, 1, 40, True, True),
    (240, 5, 1, 40, True, True),
    (120, 5, 1, 48, True, True),
    (144, 5, 1, 48, True, True),
    (288, 5, 2, 96, True, True),
    (576, 5, 1, 96, True, True),
    (576, 5, 1, 96, True, True),
)
# DeepLab's for segmentation: half the channels from the last stride on. Source: tensorflow/models,
# research/deeplab/core/feature_extractor.py, `mobilenet_v3_large_seg` and `mobilenet_v3_small_seg`.
_LARGE_SEG = (
    *_LARGE[:12],
    (336, 5, 2, 80, True, True),
    (480, 5, 1, 80, True, True),
    (480, 5, 1, 80, True, True),
)
_SMALL_SEG = (
    *_SMALL[:8],
    (144, 5, 2, 48, True, True),
    (288, 5, 1, 48, True, True),
    (288, 5, 1, 48, True, True),
)
# For detection in slim: half the channels, but for expanded ones, in the same place.
_LARGE_DETECTION = (
    *_LARGE[:12],
    (672, 5, 2, 80, True, True),
    (480, 5, 1, 80, True, True),
    (480, 5, 1, 80, True, True),
)
_SMALL_DETECTION = (
    *_SMALL[:8],
    (288, 5, 2, 48, True, True),
    (288, 5, 1, 48, True, True),
    (288, 5, 1, 48, True, True),
)
# slim's network for Edge TPUs: whether one full convolution replaces expansion and depthwise layer,
# factor of the expansion, kernel, stride, output channels, whether with residual.
_EDGE_TPU = (
    (True, 1, 3, 1, 16, True),
    (True, 8, 3, 2, 32, True),
    *[(True, 4, 3, 1, 32, True)] * 3,
    (True, 8, 3, 2, 48, True),
    *[(True, 4, 3, 1, 48, True)] * 3,
    (False, 8, 3, 2, 96, True),
    *[(False, 4, 3, 1, 96, True)] * 3,
    (False, 8, 3, 1, 96, False),
    *[(False, 4, 3, 1, 96, True)] * 3,
    (False, 8, 5, 2, 160, True),
    *[(False, 4, 5, 1, 160, True)] * 3,
    (False, 8, 3, 1, 192, True),
)
_STEM_CHANNELS = 16


def _conv_defs(blocks: Any, last: int, embedding: int, *, minimalistic: bool) -> dict[str, Any]:
    """Makes layers of a table.

    Args:
      blocks: the table.
      last: channels before the pooling.
      embedding: channels after it.
      minimalistic: kernels of 3 x 3 only, no squeeze and excite, no hard swish.
    """
    swish = tf.nn.relu if minimalistic else hard_swish
    spec = [
        op(layers.conv2d, stride=2, num_outputs=_STEM_CHANNELS, kernel_size=(3, 3),
           activation_fn=swish),
    ]  # fmt: skip
    channels = _STEM_CHANNELS
    for block in blocks:
        spec.append(_block(block, channels, minimalistic))
        channels = block[3]
    pointwise: dict[str, Any] = {"stride": 1, "kernel_size": [1, 1], "activation_fn": swish}
    spec += [
        op(layers.conv2d, num_outputs=last, **pointwise),
        op(reduce_to_1x1, stride=1),
        op(layers.conv2d, num_outputs=embedding, normalizer_fn=None, **pointwise),
    ]
    return {"defaults": _DEFAULTS, "spec": spec}


def _block(block: tuple[Any, ...], channels: int, minimalistic: bool) -> Op:
    between, kernel, stride, num_outputs, excited, swish = block
    size = 3 if minimalistic else kernel
    return op(
        expanded_conv,
        expansion_size=expand_input_by_factor(between / channels),
        kernel_size=(size, size),
        stride=stride,
        num_outputs=num_outputs,
        inner_activation_fn=hard_swish if swish and not minimalistic else tf.nn.relu,
        expansion_transform=_excite if excited and not minimalistic else None,
    )


def _edge_tpu_defs() -> dict[str, Any]:
    spec = [op(layers.conv2d, stride=2, num_outputs=32, kernel_size=(3, 3))]
    spec += [_edge_tpu_block(*block) for block in _EDGE_TPU]
    spec.append(op(layers.conv2d, stride=1, num_outputs=1280, kernel_size=(1, 1)))
    return {"defaults": _DEFAULTS, "spec": spec}


def _edge_tpu_block(
    fused: bool, factor: int, kernel: int, stride: int, num_outputs: int, residual: bool
) -> Op:
    kinds: dict[str, Any] = {"kernel_size": (kernel, kernel)}
    if fused:
        expansion = functools.partial(layers.conv2d, kernel_size=kernel, stride=stride)
        kinds = {"kernel_size": (1, 1), "depthwise_location": None, "expansion_fn": expansion}
    return op(
        expanded_conv,
        expansion_size=expand_input_by_factor(factor),
        stride=stride,
        num_outputs=num_outputs,
        residual=residual,
        inner_activation_fn=tf.nn.relu,
        **kinds,
    )


def _excite(expansion_tensor: Any, input_tensor: Any) -> Any:
    del input_tensor
    return squeeze_excite(expansion_tensor, squeeze_factor=4, gating_fn=hard_sigmoid)


V3_LARGE = _conv_defs(_LARGE, 960, 1280, minimalistic=False)
V3_SMALL = _conv_defs(_SMALL, 576, 1024, minimalistic=False)
V3_LARGE_SEG = _conv_defs(_LARGE_SEG, 480, 1280, minimalistic=False)
V3_SMALL_SEG = _conv_defs(_SMALL_SEG, 288, 1024, minimalistic=False)
V3_LARGE_DETECTION = _conv_defs(_LARGE_DETECTION, 480, 1280, minimalistic=False)
V3_SMALL_DETECTION = _conv_defs(_SMALL_DETECTION, 288, 1024, minimalistic=False)
V3_EDGETPU = _edge_tpu_defs()
V3_LARGE_MINIMALISTIC = _conv_defs(_LARGE, 960, 1280, minimalistic=True)
V3_SMALL_MINIMALISTIC = _conv_defs(_SMALL, 576, 1024, minimalistic=True)


@default_image_size(224)
@layers.add_arg_scope
def mobilenet(
    input_tensor: Any,
    num_classes: int | None = 1001,
    depth_multiplier: float = 1.0,
    scope: Any = "MobilenetV3",
    conv_defs: Mapping[str, Any] | None = None,
    finegrain_classification_mode: bool = False,
    use_groupnorm: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """Builds MobileNetV3; in inference mode unless within `training_scope()`.

    Args:
      conv_defs: the layers; `V3_LARGE` when None.
      finegrain_classification_mode: whether the last layer keeps its channels
        whatever the multiplier.
      use_groupnorm: whether group norm replaces batch norm; with `groups` groups, or 8.
      **kwargs: for `mobilenet.mobilenet`: `prediction_fn`, `reuse`,
        `final_endpoint`, `output_stride`, `use_explicit_padding`, `is_training` ...
    """
    if "multiplier" in kwargs:
        raise ValueError(
            "mobilenetv3 doesn't support generic multiplier parameter; "
            'use "depth_multiplier" instead.'
        )
    conv_defs = dict(conv_defs or V3_LARGE)
    if use_groupnorm:
        conv_defs["defaults"] = _group_norm_defaults(kwargs.pop("groups", _GROUPS))
    if finegrain_classification_mode:
        *others, last = conv_defs["spec"]
        conv_defs["spec"] = [*others, last._replace(multiplier_func=_unscaled)]
    return lib.mobilenet(
        input_tensor,
        num_classes=num_classes,
        conv_defs=conv_defs,
        scope=scope,
        multiplier=depth_multiplier,
        **kwargs,
    )


def _unscaled(params: dict[str, Any], multiplier: float) -> None:
    """Leaves a layer as it is: the `multiplier_func` of a layer that no multiplier changes."""


@layers.add_arg_scope
def mobilenet_base(
    input_tensor: Any, depth_multiplier: float = 1.0, **kwargs: Any
) -> tuple[Any, dict[str, Any]]:
    """Builds the layers before the logits; arguments as those of `mobilenet`."""
    arguments = {"depth_multiplier": depth_multiplier, "base_only": True, **kwargs}
    net, end_points = mobilenet(input_tensor, **arguments)
    return net, end_points


training_scope = lib.training_scope


def _with(**arguments: Any) -> Any:
    return functools.update_wrapper(functools.partial(mobilenet, **arguments), mobilenet)


large = _with(conv_defs=V3_LARGE)
small = _with(conv_defs=V3_SMALL)
edge_tpu = _with(conv_defs=V3_EDGETPU, scope="MobilenetEdgeTPU")
edge_tpu_075 = _with(
    conv_defs=V3_EDGETPU,
    scope="MobilenetEdgeTPU",
    depth_multiplier=0.75,
    finegrain_classification_mode=True,
)
large_seg = _with(conv_defs=V3_LARGE_SEG)
small_seg = _with(conv_defs=V3_SMALL_SEG)
large_minimalistic = _with(conv_defs=V3_LARGE_MINIMALISTIC)
small_minimalistic = _with(conv_defs=V3_SMALL_MINIMALISTIC)
