"""What batch normalisation computes: by the fused kernel, or by operations of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.layers.batch_norm_variables import Parameters
from tf_frame.layers.channels import spread
from tf_frame.layers.conditions import constant_value, smart_cond, smart_where
from tf_frame.layers.moments import Moments

# From mean and variance to a factor and an offset of the normalised values.
Correction = Callable[[Any, Any], tuple[Any, Any]]
_FUSED_FORMATS = {(4, 3): "NHWC", (4, 1): "NCHW", (5, 4): "NDHWC", (5, 1): "NCDHW"}


class Normalized(NamedTuple):
    """What came out.

    Attributes:
      outputs: like the inputs.
      mean, variance: `[channels]`, what the moving values move towards; without
        training the moving values themselves.
    """

    outputs: Any
    mean: Any
    variance: Any


def fused_normalize(
    inputs: Any, axis: int, parameters: Parameters, epsilon: float, is_training: Any
) -> Normalized:
    """Normalises with TensorFlow's fused kernel.

    Args:
      inputs: of rank 2, 4 or 5; float32 or a smaller floating type.
      axis: of the channels, 1 or the last.
      parameters: the variables.
      epsilon: added to the variance.
      is_training: bool or scalar bool tensor: by the batch, or by the moving values.
    """
    images, axis = (inputs[:, None, None, :], 3) if inputs.shape.rank == 2 else (inputs, axis)
    channels = [images.shape.as_list()[axis]]
    gamma = tf.ones(channels) if parameters.gamma is None else parameters.gamma
    beta = tf.zeros(channels) if parameters.beta is None else parameters.beta
    # Read here, for a branch must not hold variables.
    gamma, beta = tf.convert_to_tensor(gamma), tf.convert_to_tensor(beta)
    moving = [] if constant_value(is_training) else parameters.read_moving()

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
    return Normalized(outputs, mean, variance)


def normalize(
    inputs: Any,
    axis: int,
    parameters: Parameters,
    epsilon: float,
    is_training: Any,
    *,
    moments: Moments | None,
    unbiased: bool,
    corrections: Sequence[Correction] = (),
) -> Normalized:
    """Normalises inputs of any rank by statistics that are given.

    Args:
      inputs, axis, parameters, epsilon, is_training: as of `fused_normalize`.
      moments: those of the batch; None if `is_training` is known to be false.
      unbiased: whether the moving variance is to be the unbiased one.
      corrections: functions of mean and variance, each `[channels]`, which return
        a factor and an offset of the normalised values in training; the first is
        applied first.
    """
    rank = inputs.shape.rank
    chosen = _choose(parameters, moments, is_training, unbiased=unbiased)
    factor, offset = (spread(each, axis, rank) for each in (parameters.gamma, parameters.beta))
    for correction in reversed(corrections if moments else ()):
        of_values, added = (
            spread(each, axis, rank) for each in correction(chosen.mean, chosen.variance)
        )
        factor, offset = _compose(of_values, added, factor, offset)
    outputs = tf.nn.batch_normalization(
        # Sums of many halves are worth nothing, or infinite.
        tf.cast(inputs, chosen.mean.dtype),
        spread(chosen.mean, axis, rank),
        spread(chosen.variance, axis, rank),
        offset,
        factor,
        epsilon,
    )
    return Normalized(tf.cast(outputs, inputs.dtype), chosen.mean, chosen.new_variance)


class _Chosen(NamedTuple):
    """By which statistics to normalise, and what the moving variance moves towards."""

    mean: Any
    variance: Any
    new_variance: Any


def _choose(
    parameters: Parameters, moments: Moments | None, is_training: Any, *, unbiased: bool
) -> _Chosen:
    mean, variance = parameters.read_moving()
    if moments is None:
        return _Chosen(mean, variance, variance)
    new_variance = moments.unbiased_variance() if unbiased else moments.variance
    return _Chosen(
        smart_where(is_training, moments.mean, mean),
        smart_where(is_training, moments.variance, variance),
        smart_where(is_training, new_variance, variance),
    )


def _compose(of_values: Any, added: Any, factor: Any, offset: Any) -> tuple[Any, Any]:
    """Factor and offset of `(values * of_values + added) * factor + offset`."""
    if factor is not None:
        of_values, added = factor * of_values, factor * added
    return of_values, added if offset is None else offset + added
