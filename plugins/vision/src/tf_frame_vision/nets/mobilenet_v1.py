"""MobileNet, version 1 (https://arxiv.org/abs/1704.04861).

with layers.arg_scope(mobilenet_v1.mobilenet_v1_arg_scope(is_training=True)):
    logits, end_points = mobilenet_v1.mobilenet_v1(images, num_classes=1001)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.conv_blocks import fixed_padding
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.strides import Strides

_POOL_SIZE = 7


class Conv(NamedTuple):
    """A convolution: kernel `[height, width]`, stride, output channels."""

    kernel: Sequence[int]
    stride: int
    depth: int


class DepthSepConv(NamedTuple):
    """A depthwise convolution, then a 1 x 1: kernel, stride, output channels."""

    kernel: Sequence[int]
    stride: int
    depth: int


# (output channels, stride): table 1 of the paper.
_DEPTHWISE_SEPARABLE = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1),
    (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip

MOBILENETV1_CONV_DEFS: list[Conv | DepthSepConv] = [
    Conv(kernel=[3, 3], stride=2, depth=32),
    *(DepthSepConv([3, 3], stride, depth) for depth, stride in _DEPTHWISE_SEPARABLE),
]


def mobilenet_v1_base(
    inputs: Any,
    final_endpoint: str = "Conv2d_13_pointwise",
    min_depth: int = 8,
    depth_multiplier: float = 1.0,
    conv_defs: Sequence[Conv | DepthSepConv] | None = None,
    output_stride: int | None = None,
    use_explicit_padding: bool = False,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Builds the layers before pooling and logits.

    Args:
      conv_defs: other layers than `MOBILENETV1_CONV_DEFS`.
      output_stride: 8, 16 or 32: size of the inputs over size of the outputs, at
        most; where a stride would exceed it, later kernels are dilated instead.
      use_explicit_padding: pad by a number of zeros that does not depend on the
        size of the inputs, and convolve "VALID".
    """
    if depth_multiplier <= 0:
        raise ValueError(f"depth_multiplier is not greater than zero. It is {depth_multiplier}.")
    if output_stride not in (None, 8, 16, 32):
        raise ValueError(f"Only allowed output_stride values are 8, 16, 32. It is {output_stride}.")
    padding = "VALID" if use_explicit_padding else "SAME"
    conv_defs = MOBILENETV1_CONV_DEFS if conv_defs is None else conv_defs
    end_points = {}
    with (
        tf.variable_scope(scope, "MobilenetV1", [inputs]),
        layers.arg_scope([layers.conv2d, layers.separable_conv2d], padding=padding),
    ):
        net = inputs
        for name, build in _layers(conv_defs, output_stride, use_explicit_padding):
            net = end_points[name] = build(net, lambda d: max(int(d * depth_multiplier), min_depth))
            if name == final_endpoint:
                return net, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}; there are {', '.join(end_points)}")


def _layers(
    conv_defs: Sequence[Conv | DepthSepConv], output_stride: int | None, explicit: bool
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yields the name of each layer, and a function of its input and of a rule for depths.

    Args:
      conv_defs: the definition.
      output_stride: limit of the product of strides; None for none.
      explicit: whether to pad by a fixed number of zeros.

    Raises:
      ValueError: a definition is of no known type.
    """
    strides = Strides(output_stride)
    for index, definition in enumerate(conv_defs):
        if not isinstance(definition, Conv | DepthSepConv):
            raise ValueError(
                f"Unknown convolution type {type(definition).__name__} for layer {index}"
            )
        stride, rate = strides.next(definition.stride)
        options: dict[str, Any] = {"stride": stride, "rate": rate, "padded": explicit}
        name = f"Conv2d_{index}"
        if isinstance(definition, Conv):
            yield name, functools.partial(_full, definition, scope=name, **options)
        else:
            scope = f"{name}_depthwise"
            yield scope, functools.partial(_depthwise, definition, scope=scope, **options)
            scope = f"{name}_pointwise"
            yield scope, functools.partial(_pointwise, definition, scope=scope)


def _full(
    definition: Conv, net: Any, depth: Any, *, rate: int, padded: bool, **options: Any
) -> Any:
    net = fixed_padding(net, definition.kernel, rate) if padded else net
    return layers.conv2d(net, depth(definition.depth), definition.kernel, rate=rate, **options)


def _depthwise(
    definition: DepthSepConv, net: Any, _: Any, *, rate: int, padded: bool, **options: Any
) -> Any:
    net = fixed_padding(net, definition.kernel, rate) if padded else net
    return layers.separable_conv2d(net, None, definition.kernel, rate=rate, **options)


def _pointwise(definition: DepthSepConv, net: Any, depth: Any, *, scope: str) -> Any:
    return layers.conv2d(net, depth(definition.depth), [1, 1], scope=scope)


@default_image_size(224)
def mobilenet_v1(
    inputs: Any,
    num_classes: int | None = 1000,
    dropout_keep_prob: float = 0.999,
    is_training: bool = True,
    min_depth: int = 8,
    depth_multiplier: float = 1.0,
    conv_defs: Sequence[Conv | DepthSepConv] | None = None,
    prediction_fn: Callable[..., Any] | None = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "MobilenetV1",
    global_pool: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Builds the classifier.

    Args:
      conv_defs: other layers than `MOBILENETV1_CONV_DEFS`.
      global_pool: average over the whole picture; otherwise over windows of
        7 x 7, so that pictures larger than 224 give more than one position.
    """
    if inputs.shape.rank != 4:
        raise ValueError(f"Invalid input tensor rank, expected 4, was: {inputs.shape.rank}")
    with (
        tf.variable_scope(scope, "MobilenetV1", [inputs], reuse=reuse) as opened,
        layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = mobilenet_v1_base(
            inputs,
            scope=opened,
            min_depth=min_depth,
            depth_multiplier=depth_multiplier,
            conv_defs=conv_defs,
        )
        with tf.variable_scope("Logits"):
            name = "global_pool" if global_pool else "AvgPool_1a"
            net = end_points[name] = _pooled(net, name, whole=global_pool)
            if not num_classes:
                return net, end_points
            net = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
            logits = _logits(net, num_classes, squeeze=spatial_squeeze)
        end_points["Logits"] = logits
        if prediction_fn is not None:
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _pooled(net: Any, name: str, *, whole: bool) -> Any:
    if whole:
        return tf.reduce_mean(net, [1, 2], keepdims=True, name=name)
    # A picture of unknown size is taken for large enough.
    window = [min(size or _POOL_SIZE, _POOL_SIZE) for size in net.shape.as_list()[1:3]]
    return layers.avg_pool2d(net, window, padding="VALID", scope=name)


def _logits(net: Any, num_classes: int, *, squeeze: bool) -> Any:
    logits = layers.conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1"
    )
    return tf.squeeze(logits, [1, 2], name="SpatialSqueeze") if squeeze else logits


def _with(**arguments: Any) -> Any:
    return functools.update_wrapper(functools.partial(mobilenet_v1, **arguments), mobilenet_v1)


mobilenet_v1_075 = _with(depth_multiplier=0.75)
mobilenet_v1_050 = _with(depth_multiplier=0.50)
mobilenet_v1_025 = _with(depth_multiplier=0.25)


def mobilenet_v1_arg_scope(
    is_training: bool | None = True,
    weight_decay: float = 0.00004,
    stddev: float = 0.09,
    regularize_depthwise: bool = False,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    normalizer_fn: Callable[..., Any] | None = layers.batch_norm,
) -> Any:
    """Makes the `arg_scope` to build the network in.

    Args:
      is_training: whether batch norm is in training mode; None leaves it as it is.
      stddev: of the initial weights, truncated normal.
      regularize_depthwise: whether depthwise weights pay the penalty, too.
      normalizer_fn: after every convolution but the logits.
    """
    batch_norm = {
        "center": True,
        "scale": True,
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": batch_norm_updates_collections,
    }
    if is_training is not None:
        batch_norm["is_training"] = is_training
    penalty = layers.l2_regularizer(weight_decay)
    with (
        layers.arg_scope(
            [layers.conv2d, layers.separable_conv2d],
            weights_initializer=tf.truncated_normal_initializer(stddev=stddev),
            activation_fn=tf.nn.relu6,
            normalizer_fn=normalizer_fn,
        ),
        layers.arg_scope([layers.batch_norm], **batch_norm),
        layers.arg_scope([layers.conv2d], weights_regularizer=penalty),
        layers.arg_scope(
            [layers.separable_conv2d],
            weights_regularizer=penalty if regularize_depthwise else None,
        ) as scope,
    ):
        return scope
