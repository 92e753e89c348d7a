"""The two ways to normalise a batch: the fused kernel, and separate operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.conditions import constant_value, smart_cond, smart_where
from tf_frame.layers.moments import Moments
from tf_frame.layers.norm_variables import BatchNormVariables
from tf_frame.layers.sizes import along_axis

# Maps mean and variance to a factor and an offset of the normalised values.
Correction = Callable[[Any, Any], tuple[Any, Any]]
_FUSED_FORMATS = {(4, 3): "NHWC", (4, 1): "NCHW", (5, 4): "NDHWC", (5, 1): "NCDHW"}


def fused_normalize(
    inputs: Any, axis: int, variables: BatchNormVariables, epsilon: float, is_training: Any
) -> tuple[Any, Any, Any]:
    """Normalises with TensorFlow's fused kernel.

    Args:
      inputs: tensor of rank 2, 4 or 5; float32 or a smaller floating type.
      axis: the channel axis, 1 or the last one.
      variables: the variables of the layer.
      epsilon: added to the variance.
      is_training: bool or scalar bool tensor: statistics of the batch, or moving ones.

    Returns:
      The outputs; and the mean and the variance, `[channels]`, which the moving
      statistics move towards (without training, the moving statistics).
    """
    images, axis = (inputs[:, None, None, :], 3) if inputs.shape.rank == 2 else (inputs, axis)
    channels = [images.shape.as_list()[axis]]
    gamma = tf.ones(channels) if variables.gamma is None else variables.gamma
    beta = tf.zeros(channels) if variables.beta is None else variables.beta
    # Read outside of tf.cond, whose branches must not capture variables.
    gamma, beta = tf.convert_to_tensor(gamma), tf.convert_to_tensor(beta)
    moving = [] if constant_value(is_training) else variables.read_moving()

    def run(*moving: Any) -> Any:
        return tf.nn.fused_batch_norm(
            images,
            gamma,
            beta,
            *moving,
            epsilon=epsilon,
            data_format=_FUSED_FORMATS[images.shape.rank, axis],
            is_training=not moving,
        )

    outputs, mean, variance = smart_cond(is_training, run, lambda: run(*moving))
    if inputs.shape.rank == 2:
        outputs = tf.squeeze(outputs, [1, 2])
    return outputs, mean, variance


def normalize(
    inputs: Any,
    axis: int,
    variables: BatchNormVariables,
    epsilon: float,
    is_training: Any,
    *,
    moments: Moments | None,
    unbiased: bool,
    corrections: Sequence[Correction] = (),
) -> tuple[Any, Any, Any]:
    """Normalises inputs of any rank by given statistics.

    Args:
      inputs: tensor of any rank.
      axis, variables, epsilon, is_training: see `fused_normalize`.
      moments: statistics of the batch; None if `is_training` is known to be false.
      unbiased: whether the moving variance moves towards the unbiased variance.
      corrections: functions of mean and variance, each `[channels]`, that return a
        factor and an offset of the normalised values in training; applied in order.

    Returns:
      The same as `fused_normalize`.
    """
    rank = inputs.shape.rank
    mean, variance = variables.read_moving()
    new_variance = variance
    if moments:
        unbiased_or_not = moments.unbiased_variance() if unbiased else moments.variance
        mean = smart_where(is_training, moments.mean, mean)
        variance = smart_where(is_training, moments.variance, variance)
        new_variance = smart_where(is_training, unbiased_or_not, new_variance)
    factor, offset = (along_axis(each, axis, rank) for each in (variables.gamma, variables.beta))
    for correction in reversed(corrections if moments else ()):
        inner_factor, inner_offset = (
            along_axis(each, axis, rank) for each in correction(mean, variance)
        )
        factor, offset = _composed(inner_factor, inner_offset, factor, offset)
    outputs = tf.nn.batch_normalization(
        # Half precision would overflow, or lose most of its digits, in the sums.
        tf.cast(inputs, mean.dtype),
        along_axis(mean, axis, rank),
        along_axis(variance, axis, rank),
        offset,
        factor,
        epsilon,
    )
    return tf.cast(outputs, inputs.dtype), mean, new_variance


def _composed(inner_factor: Any, inner_offset: Any, factor: Any, offset: Any) -> tuple[Any, Any]:
    """Returns factor and offset of `(x * inner_factor + inner_offset) * factor + offset`."""
    if factor is not None:
        inner_factor, inner_offset = factor * inner_factor, factor * inner_offset
    return inner_factor, inner_offset if offset is None else offset + inner_offset
