"""Convolutions with slim's arguments, defaults and variable names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.initializers import xavier
from tf_frame.layers.variables import model_variable


def conv2d(
    inputs: Any,
    filters: int,
    kernel_size: int | tuple[int, int],
    *,
    stride: int = 1,
    rate: int = 1,
    padding: str = "SAME",
    activation: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer: Callable[[Any], Any] | None = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Convolves; then normalises or adds biases; then activates.

    Variables: `weights` of shape `[kernel_height, kernel_width, channels,
    filters]`; `biases` of shape `[filters]` unless there is a normalizer.

    Args:
      inputs: `[batch, height, width, channels]`, channels known.
      filters: number of output channels.
      kernel_size: height and width of the kernel, in pixels.
      stride: pixels from one output to the next.
      rate: pixels between the taps of the kernel (atrous convolution).
      padding: "SAME" or "VALID".
      activation: applied last, or None.
      normalizer: applied instead of biases, inside the layer's scope.
      initializer: of the weights; `xavier()` when None.
      regularizer: of the weights, not of the biases.
      scope: variable scope; "Conv" made unique when None.

    Returns:
      `[batch, new_height, new_width, filters]`.

    Raises:
      ValueError: both `stride` and `rate` are greater than 1.
    """
    _check(stride, rate)
    with tf.variable_scope(scope, "Conv", [inputs]):
        weights = model_variable(
            "weights",
            [*_pair(kernel_size), inputs.shape.as_list()[-1], filters],
            initializer=initializer or xavier(),
            regularizer=regularizer,
        )
        outputs = tf.nn.conv2d(inputs, weights, stride, padding, dilations=[1, rate, rate, 1])
        return _finish(outputs, filters, normalizer, activation)


def depthwise_conv2d(
    inputs: Any,
    kernel_size: int | tuple[int, int],
    *,
    multiplier: int = 1,
    stride: int = 1,
    rate: int = 1,
    padding: str = "SAME",
    activation: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer: Callable[[Any], Any] | None = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Convolves every channel by itself; otherwise like `conv2d`.

    The variable is named `depthwise_weights`, of shape `[kernel_height,
    kernel_width, channels, multiplier]`.

    Args:
      inputs: `[batch, height, width, channels]`, channels known.
      kernel_size: height and width of the kernel, in pixels.
      multiplier: outputs per input channel.
      stride: pixels from one output to the next.
      rate: pixels between the taps of the kernel (atrous convolution).
      padding: "SAME" or "VALID".
      activation: applied last, or None.
      normalizer: applied instead of biases, inside the layer's scope.
      initializer: of the weights; `xavier()` when None.
      regularizer: of the weights, not of the biases.
      scope: variable scope; "SeparableConv2d" made unique when None.

    Returns:
      `[batch, new_height, new_width, channels * multiplier]`.

    Raises:
      ValueError: both `stride` and `rate` are greater than 1.
    """
    _check(stride, rate)
    with tf.variable_scope(scope, "SeparableConv2d", [inputs]):
        channels = inputs.shape.as_list()[-1]
        weights = model_variable(
            "depthwise_weights",
            [*_pair(kernel_size), channels, multiplier],
            initializer=initializer or xavier(),
            regularizer=regularizer,
        )
        outputs = _depthwise(inputs, weights, stride, rate, padding)
        return _finish(outputs, channels * multiplier, normalizer, activation)


def _depthwise(inputs: Any, weights: Any, stride: int, rate: int, padding: str) -> Any:
    # tf.nn goes through space-to-batch for rate > 1. The kernel's own `dilations`
    # must not be used: on CPU its gradient ignores them without a word (TF 2.21).
    strides = [1, stride, stride, 1]
    return tf.nn.depthwise_conv2d(inputs, weights, strides, padding, rate=[rate, rate])


def _finish(outputs: Any, filters: int, normalizer: Any, activation: Any) -> Any:
    if normalizer is not None:
        outputs = normalizer(outputs)
    else:
        biases = model_variable("biases", [filters], initializer=tf.zeros_initializer())
        outputs = tf.nn.bias_add(outputs, biases)
    return outputs if activation is None else activation(outputs)


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def _check(stride: int, rate: int) -> None:
    if stride > 1 and rate > 1:
        raise ValueError(f"stride {stride} with rate {rate}: only one of them may exceed 1")
