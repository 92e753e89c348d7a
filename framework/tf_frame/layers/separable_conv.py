"""Convolutions that work on every channel by itself, then mix the channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.initializers import xavier_initializer
from tf_frame.layers.sizes import channel_dimension, last_dimension, two_element_tuple
from tf_frame.layers.steps import LayerSteps


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: int | Sequence[int],
    depth_multiplier: int = 1,
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: int | Sequence[int] = 1,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    pointwise_initializer: Any = None,
    weights_regularizer: Callable[..., Any] | None = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Convolves every channel by itself, then mixes them; otherwise like `conv2d`.

    Variables: `depthwise_weights` of shape `[kernel_height, kernel_width, channels,
    depth_multiplier]`; `pointwise_weights` of shape `[1, 1, channels *
    depth_multiplier, num_outputs]` unless `num_outputs` is None; `biases`.

    Args:
      inputs: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]`; channels known.
      num_outputs: number of output channels; with None they are not mixed, and
        there are `channels * depth_multiplier`.
      kernel_size: height and width of the kernel, in pixels.
      depth_multiplier: outputs per input channel of the first step.
      stride: pixels from one output to the next.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      rate: pixels between the taps of the kernel (atrous convolution).
      activation_fn: applied last, or None.
      normalizer_fn: applied instead of biases, inside the layer's scope.
      normalizer_params: keyword arguments of `normalizer_fn`.
      weights_initializer: of both weights.
      pointwise_initializer: of the pointwise weights, if they have their own.
      weights_regularizer: maps either weights to a scalar penalty, or None.
      biases_initializer: of the biases; no biases when None.
      biases_regularizer: maps biases to a scalar penalty, or None.
      reuse: whether to share the variables of an earlier layer of this scope.
      variables_collections: collections for the variables: a list, or a
        dictionary of lists by "weights" (both of them) and "biases".
      outputs_collections: collections for the outputs, under the scope's name.
      trainable: whether the optimizer may change the variables.
      scope: variable scope; "SeparableConv2d" made unique when None.

    Returns:
      `[batch, new_height, new_width, num_outputs]`, or `[batch, num_outputs,
      new_height, new_width]`.

    Raises:
      ValueError: `data_format` is neither; or both a stride and a rate are
        greater than 1.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC. It is {data_format!r}.")
    steps = LayerSteps(
        activation_fn=activation_fn,
        normalizer_fn=normalizer_fn,
        normalizer_params=normalizer_params,
        weights_initializer=weights_initializer,
        weights_regularizer=weights_regularizer,
        biases_initializer=biases_initializer,
        biases_regularizer=biases_regularizer,
        variables_collections=variables_collections,
        outputs_collections=outputs_collections,
        trainable=trainable,
    )
    with tf.variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse) as variable_scope:
        inputs = tf.convert_to_tensor(inputs)
        first = data_format == "NCHW"
        channels = channel_dimension(
            inputs.shape, "channels_first" if first else "channels_last", min_rank=4
        )
        shape = [*two_element_tuple(kernel_size), channels, int(depth_multiplier)]
        weights = steps.weights("depthwise_weights", shape, like=inputs)
        outputs = _depthwise(inputs, weights, stride, rate, padding.upper(), data_format)
        if num_outputs is not None:
            shape = [1, 1, channels * int(depth_multiplier), int(num_outputs)]
            weights = steps.weights(
                "pointwise_weights", shape, like=inputs, initializer=pointwise_initializer
            )
            outputs = tf.nn.conv2d(outputs, weights, 1, "VALID", data_format=data_format)
        return steps.finish(outputs, variable_scope, channels_first=first)


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    weights_regularizer: Callable[..., Any] | None = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Convolves every channel with the same kernel, such as that of a gradient.

    Variables: `weights` of shape `[kernel_height, kernel_width, 1, 1]`; `biases` of
    shape `[channels]`. Arguments as those of `separable_conv2d`.

    Args:
      inputs: `[batch, height, width, channels]`, channels known.

    Returns:
      `[batch, new_height, new_width, channels]`.
    """
    steps = LayerSteps(
        activation_fn=activation_fn,
        normalizer_fn=normalizer_fn,
        normalizer_params=normalizer_params,
        weights_initializer=weights_initializer,
        weights_regularizer=weights_regularizer,
        biases_initializer=biases_initializer,
        biases_regularizer=biases_regularizer,
        variables_collections=variables_collections,
        outputs_collections=outputs_collections,
        trainable=trainable,
    )
    with tf.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as variable_scope:
        inputs = tf.convert_to_tensor(inputs)
        channels = last_dimension(inputs.shape, min_rank=4)
        shape = [*two_element_tuple(kernel_size), 1, 1]
        weights = tf.tile(steps.weights("weights", shape, like=inputs), [1, 1, channels, 1])
        outputs = _depthwise(inputs, weights, stride, 1, padding.upper(), "NHWC")
        return steps.finish(outputs, variable_scope)


separable_conv2d = separable_convolution2d
conv2d_in_plane = convolution2d_in_plane


def _depthwise(
    inputs: Any, weights: Any, stride: Any, rate: Any, padding: str, data_format: str
) -> Any:
    strides, rates = two_element_tuple(stride), two_element_tuple(rate)
    if max(strides) > 1 and max(rates) > 1:
        raise ValueError(f"stride {stride} with rate {rate}: only one of them may exceed 1")
    four = [1, 1, *strides] if data_format == "NCHW" else [1, *strides, 1]
    # tf.nn goes through space-to-batch for rate > 1. The kernel's own `dilations`
    # must not be used: on CPU its gradient ignores them without a word (TF 2.21).
    return tf.nn.depthwise_conv2d(
        inputs, weights, four, padding, rate=rates, data_format=data_format
    )
