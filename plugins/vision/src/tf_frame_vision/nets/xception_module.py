"""The module that the aligned Xception is made of, and its separable convolution.

Names and arguments are those of tensorflow/models, research/deeplab/core/xception.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.conv_blocks import fixed_padding

_CONVOLUTIONS = 3
# Bounded activations, before and after a sum, are within -6 and 6.
_BOUND = 6.0


@layers.add_arg_scope
def separable_conv2d_same(
    inputs: Any,
    num_outputs: int,
    kernel_size: int,
    depth_multiplier: int,
    stride: int,
    rate: int = 1,
    use_explicit_padding: bool = True,
    regularize_depthwise: bool = False,
    scope: str = "SeparableConv2d",
    **kwargs: Any,
) -> Any:
    """Convolves separably with a stride, aligned whether the size is even or odd.

    It makes two layers with their own batch norm and activation, `<scope>_depthwise` and
    `<scope>_pointwise`; with `regularize_depthwise` one layer, `<scope>`.

    Args:
      depth_multiplier: depthwise outputs for each input channel.
      rate: pixels between the taps of the kernel; 1 with a stride.
      use_explicit_padding: whether a strided convolution equals a convolution without
        a stride, subsampled; otherwise even sizes are moved by a pixel.
      regularize_depthwise: whether the depthwise weights pay the penalty of the arg scope.
      **kwargs: for each layer: `activation_fn`, ...

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), num_outputs]`.
    """
    padding = "SAME"
    if stride > 1 and use_explicit_padding:
        inputs, padding = fixed_padding(inputs, [kernel_size, kernel_size], rate), "VALID"
    depthwise = {
        **{"depth_multiplier": depth_multiplier, "stride": stride, "rate": rate},
        **{"padding": padding, **kwargs},
    }
    if regularize_depthwise:
        return layers.separable_conv2d(inputs, num_outputs, kernel_size, scope=scope, **depthwise)
    net = layers.separable_conv2d(
        inputs, None, kernel_size, scope=f"{scope}_depthwise", **depthwise
    )
    return layers.conv2d(net, num_outputs, 1, scope=f"{scope}_pointwise", **kwargs)


@layers.add_arg_scope
def xception_module(
    inputs: Any,
    depth_list: Sequence[int],
    skip_connection_type: str,
    stride: int,
    kernel_size: int = 3,
    unit_rate_list: Sequence[int] | None = None,
    rate: int = 1,
    activation_fn_in_separable_conv: bool = False,
    regularize_depthwise: bool = False,
    outputs_collections: Any = None,
    scope: Any = None,
    use_bounded_activation: bool = False,
    use_explicit_padding: bool = True,
) -> Any:
    """Builds three separable convolutions and a shortcut.

    Args:
      depth_list: output channels of the convolutions.
      skip_connection_type: "conv": the shortcut is a 1 x 1 convolution; "sum": it is the
        inputs; "none": there is none.
      stride: stride of the third convolution.
      unit_rate_list: factors on the rate of each convolution; all 1 when None.
      activation_fn_in_separable_conv: whether depthwise and pointwise outputs are
        rectified; otherwise the inputs of each separable convolution are.
      regularize_depthwise: see `separable_conv2d_same`.
      use_bounded_activation: whether to keep all values within -6 and 6, for quantised
        inference.
      use_explicit_padding: see `separable_conv2d_same`.

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), depth_list[2]]`.

    Raises:
      ValueError: not three channels or rates, or another type of shortcut.
    """
    unit_rates = [1] * _CONVOLUTIONS if unit_rate_list is None else list(unit_rate_list)
    _check_module(depth_list, unit_rates, skip_connection_type)
    before, after = _activations(activation_fn_in_separable_conv, use_bounded_activation)
    with tf.variable_scope(scope, "xception_module", [inputs]) as variable_scope:
        net = inputs
        for index, (depth, unit_rate) in enumerate(zip(depth_list, unit_rates, strict=True), 1):
            net = separable_conv2d_same(
                before(net),
                depth,
                kernel_size,
                depth_multiplier=1,
                stride=stride if index == _CONVOLUTIONS else 1,
                rate=rate * unit_rate,
                use_explicit_padding=use_explicit_padding,
                regularize_depthwise=regularize_depthwise,
                activation_fn=after,
                scope=f"separable_conv{index}",
            )
        if skip_connection_type != "none":
            shortcut = inputs
            if skip_connection_type == "conv":
                shortcut = layers.conv2d(
                    inputs, depth_list[-1], [1, 1], stride=stride, activation_fn=None,
                    scope="shortcut",
                )  # fmt: skip
            net = _add(net, shortcut, bounded=use_bounded_activation)
        return layers.collect_named_outputs(outputs_collections, variable_scope.name, net)


def _check_module(depths: Sequence[int], unit_rates: Sequence[int], connection: str) -> None:
    for name, values in (("depth_list", depths), ("unit_rate_list (multi_grid)", unit_rates)):
        if len(values) != _CONVOLUTIONS:
            raise ValueError(f"{name} needs three elements; it is {tuple(values)}")
    if connection not in ("conv", "sum", "none"):
        raise ValueError(f'skip_connection_type {connection!r} is not "conv", "sum" or "none"')


def _activations(
    inside: bool, bounded: bool
) -> tuple[Callable[[Any], Any], Callable[[Any], Any] | None]:
    """Returns the activations before a separable convolution and after each of its parts."""
    rectifier = tf.nn.relu6 if bounded else tf.nn.relu
    if inside:
        return _unchanged, rectifier
    return rectifier, _clip if bounded else None


def _add(residual: Any, shortcut: Any, *, bounded: bool) -> Any:
    if not bounded:
        return residual + shortcut
    return tf.nn.relu6(_clip(residual) + _clip(shortcut))


def _unchanged(values: Any) -> Any:
    return values


def _clip(values: Any) -> Any:
    return tf.clip_by_value(values, -_BOUND, _BOUND)
