"""Depthwise separable convolutions, and convolutions with one kernel for all channels.

A separable convolution needs a fraction of the multiplications of a full one; MobileNet and DeepLab
use it. Arguments and variable names are slim's, so slim's checkpoints load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.sizes import channels_first, known_dimension, two_element_tuple
from tf_frame.layers.steps import LayerSteps, slim_layer


@slim_layer("SeparableConv2d")
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: int | Sequence[int],
    depth_multiplier: int = 1,
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: int | Sequence[int] = 1,
    *,
    pointwise_initializer: Any = None,
    steps: LayerSteps,
) -> tuple[Any, bool]:
    """Convolves each channel separately, then combines the channels pixel by pixel.

    Variables: `depthwise_weights`, `[kernel_height, kernel_width, channels, depth_multiplier]`;
    `pointwise_weights`, `[1, 1, channels * depth_multiplier, num_outputs]`, unless `num_outputs` is
    None; `biases` unless there is a normalizer.

    Args:
      inputs: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]`; number of channels known.
      num_outputs: number of output channels. None: no pointwise convolution, hence
        `channels * depth_multiplier` output channels.
      kernel_size: height and width of the kernel, in pixels.
      depth_multiplier: number of depthwise outputs per input channel.
      stride: distance between outputs, in pixels: height and width, or one integer for both.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      rate: distance between the taps of the kernel, in pixels: height and width, or one integer for
        both.
      pointwise_initializer: initializer of the pointwise weights; None:
        `weights_initializer`.
      weights_initializer: initializer of both weights.
      weights_regularizer: maps either weights to a scalar penalty; None: no penalty.
      variables_collections: list of collections for all variables, or "weights" (both) and
        "biases" -> list of collections.
      scope: variable scope; None: "SeparableConv2d", made unique.

    Raises:
      ValueError: another data format, or both a stride and a rate greater than 1.
    """
    first = channels_first(data_format)
    channels = known_dimension(inputs.shape, 1 if first else -1, min_rank=4)
    shape = [*two_element_tuple(kernel_size), channels, int(depth_multiplier)]
    weights = steps.weights("depthwise_weights", shape, like=inputs)
    outputs = convolve_depthwise(inputs, weights, stride, rate, padding, channels_first=first)
    if num_outputs is not None:
        shape = [1, 1, channels * int(depth_multiplier), int(num_outputs)]
        weights = steps.weights(
            "pointwise_weights", shape, like=inputs, initializer=pointwise_initializer
        )
        outputs = tf.nn.conv2d(outputs, weights, 1, "VALID", data_format=data_format)
    return outputs, first


@slim_layer("ConvInPlane")
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    *,
    steps: LayerSteps,
) -> tuple[Any, bool]:
    """Convolves each channel with the same kernel, such as one that computes a gradient.

    Variables: `weights` of shape `[kernel_height, kernel_width, 1, 1]`; `biases` of shape
    `[channels]` unless there is a normalizer.

    Args:
      inputs: `[batch, height, width, channels]`, number of channels known.
      kernel_size: height and width of the kernel, in pixels.
      stride: distance between outputs, in pixels: height and width, or one integer for both.
      padding: "SAME" or "VALID".
      scope: variable scope; None: "ConvInPlane", made unique.
    """
    channels = known_dimension(inputs.shape, -1, min_rank=4)
    shape = [*two_element_tuple(kernel_size), 1, 1]
    weights = tf.tile(steps.weights("weights", shape, like=inputs), [1, 1, channels, 1])
    return convolve_depthwise(inputs, weights, stride, 1, padding, channels_first=False), False


separable_conv2d = separable_convolution2d
conv2d_in_plane = convolution2d_in_plane


def convolve_depthwise(
    inputs: Any, weights: Any, stride: Any, rate: Any, padding: str, *, channels_first: bool
) -> Any:
    """Convolves each channel separately; without variables, biases and activation.

    For the arguments, and the shapes of inputs and weights, see `separable_convolution2d`.

    Raises:
      ValueError: both a stride and a rate greater than 1.
    """
    strides, rates = two_element_tuple(stride), two_element_tuple(rate)
    if max(strides) > 1 and max(rates) > 1:
        raise ValueError(f"stride {stride} with rate {rate}: only one of them may exceed 1")
    four = [1, 1, *strides] if channels_first else [1, *strides, 1]
    data_format = "NCHW" if channels_first else "NHWC"
    # tf.nn.depthwise_conv2d uses space-to-batch for rates above 1. The kernel's own `dilations`
    # are wrong: on CPU its gradient silently ignores them (TensorFlow 2.21).
    return tf.nn.depthwise_conv2d(
        inputs, weights, four, padding.upper(), rate=rates, data_format=data_format
    )
