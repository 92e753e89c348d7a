"""Implementations of batch norm: fused kernel, separate operations, batch renormalisation.

The fused kernel is the fastest, but supports few ranks and types, and only statistics of a single
batch. Renormalisation is for small batches: with it, training uses nearly the same statistics as
inference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.conditions import constant_value, smart_cond, smart_where
from tf_frame.layers.moments import Moments
from tf_frame.layers.norm_variables import (
    INITIALIZERS,
    BatchNormVariables,
    moving_update,
    moving_variable,
)
from tf_frame.layers.sizes import along_axis

# Maps mean and variance to a factor and an offset of the normalised values.
Correction = Callable[[Any, Any], tuple[Any, Any]]
_FUSED_FORMATS = {(4, 3): "NHWC", (4, 1): "NCHW", (5, 4): "NDHWC", (5, 1): "NCDHW"}
_BOUNDS = ("rmax", "rmin", "dmax")


def fused_normalize(
    inputs: Any, axis: int, variables: BatchNormVariables, epsilon: float, is_training: Any
) -> tuple[Any, Any, Any]:
    """Normalises with TensorFlow's fused kernel.

    Args:
      inputs: tensor of rank 2, 4 or 5; float32 or a smaller floating type.
      axis: the channel axis, 1 or the last one.
      epsilon: added to the variance.
      is_training: bool or scalar bool tensor; if false, use the moving statistics.

    Returns:
      The outputs; and the new values of the moving mean and variance, `[channels]` (without
      training, the moving statistics).
    """
    images, axis = (inputs[:, None, None, :], 3) if inputs.shape.rank == 2 else (inputs, axis)
    channels = [images.shape.as_list()[axis]]
    gamma = tf.ones(channels) if variables.gamma is None else variables.gamma
    beta = tf.zeros(channels) if variables.beta is None else variables.beta
    # Read here, because the branches of tf.cond must not capture variables.
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
    """Normalises inputs of any rank with separate operations; returns like `fused_normalize`.

    Args:
      inputs, axis, variables, epsilon, is_training: see `fused_normalize`.
      moments: statistics of the batch; None if `is_training` is false in Python.
      unbiased: whether the moving variance moves towards the unbiased variance.
      corrections: functions of mean and variance, `[channels]`, that return a factor and an
        offset of the normalised values in training; applied in order.
    """
    rank = inputs.shape.rank
    mean, variance = variables.read_moving()
    new_variance = variance
    if moments:
        unbiased_or_not = moments.unbiased_variance() if unbiased else moments.variance
        mean = smart_where(is_training, moments.mean, mean)
        variance = smart_where(is_training, moments.variance, variance)
        new_variance = smart_where(is_training, unbiased_or_not, new_variance)
    factor, offset = (along_axis(v, axis, rank) for v in (variables.gamma, variables.beta))
    for correction in reversed(corrections if moments else ()):
        inner_factor, inner_offset = (
            along_axis(vector, axis, rank) for vector in correction(mean, variance)
        )
        factor, offset = _compose(inner_factor, inner_offset, factor, offset)
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


def _compose(inner_factor: Any, inner_offset: Any, factor: Any, offset: Any) -> tuple[Any, Any]:
    """Returns factor and offset of `(x * inner_factor + inner_offset) * factor + offset`."""
    if factor is not None:
        inner_factor, inner_offset = factor * inner_factor, factor * inner_offset
    return inner_factor, inner_offset if offset is None else offset + inner_offset


class Renorm:
    """Batch renormalisation, https://arxiv.org/abs/1702.03275, of one layer.

    In training the normalised values `x` become `x * r + d`, which approximates normalisation by
    the moving statistics; no gradient passes through `r` and `d`. Names and details are from
    Keras, layers/normalization/batch_normalization.py, the base of slim's batch_norm. Gets or
    creates the variables `moving_stddev`, `renorm_mean` and `renorm_stddev`, `[channels]`.

    Args:
      variables: the other variables of the layer.
      initializers: "moving_mean" and "moving_variance" -> initializer.
      clipping, decay: `renorm_clipping` and `renorm_decay` of `batch_norm`.
      epsilon, is_training: see `batch_norm`.

    Raises:
      ValueError: `clipping` has an unknown key.
    """

    def __init__(
        self,
        variables: BatchNormVariables,
        *,
        initializers: Mapping[str, Any] | None,
        clipping: Mapping[str, Any] | None,
        decay: Any,
        epsilon: float,
        is_training: Any,
    ) -> None:
        self._clipping = clipping or {}
        unknown = {key: value for key, value in self._clipping.items() if key not in _BOUNDS}
        if unknown:
            raise ValueError(
                f"Received invalid keys for `renorm_clipping` argument: {unknown}. "
                f"Supported values: {list(_BOUNDS)}."
            )
        self._moving_mean, self._moving_variance = variables.moving_mean, variables.moving_variance
        self._decay, self._epsilon, self._is_training = decay, epsilon, is_training
        self._corrections: list[Any] = []
        initializers = {**INITIALIZERS, **(initializers or {})}

        def stddev_initializer(*args: Any, **kwargs: Any) -> Any:
            return tf.sqrt(initializers["moving_variance"](*args, **kwargs))

        def make(name: str, initializer: Any) -> Any:
            like = variables.moving_mean
            return moving_variable(name, like.shape, like.dtype.base_dtype, initializer)

        self._moving_stddev = make("moving_stddev", stddev_initializer)
        self._mean = make("renorm_mean", initializers["moving_mean"])
        self._stddev = make("renorm_stddev", stddev_initializer)

    def correct(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        """Returns `r` and `d` for the statistics of the batch, all `[channels]`."""
        # Early in training the moving deviation may still be 0.
        stddev = tf.maximum(self._stddev, tf.sqrt(tf.cast(self._epsilon, mean.dtype)))
        r = self._clip(self._stddev_from_variance(variance) / stddev, "rmin", "rmax")
        d = self._clip((mean - self._mean) / stddev, "dmax", "dmax")
        r = smart_where(self._is_training, r, tf.ones_like(r))
        d = smart_where(self._is_training, d, tf.zeros_like(d))
        self._corrections = [r, d]
        return tf.stop_gradient(r), tf.stop_gradient(d)

    def updates(self, mean: Any, variance: Any, decay: Any) -> list[Any]:
        """Returns the update operations of all moving statistics; they run after `r` and `d`.

        Args:
          mean, variance: statistics of the batch.
          decay: weight of the old value of `moving_mean` and `moving_variance`.
        """

        def move(variable: Any, value: Any, decay: Any) -> Any:
            return moving_update(variable, value, decay, self._is_training)

        stddev = self._stddev_from_variance(variance)
        with tf.control_dependencies(self._corrections):
            correction_updates = [
                move(self._mean, mean, self._decay),
                move(self._stddev, stddev, self._decay),
            ]
        moved = move(self._moving_stddev, stddev, decay)
        with tf.control_dependencies([moved]):
            # Rounding may make the difference negative.
            new = tf.nn.relu(tf.square(self._moving_stddev.read_value()) - self._epsilon)
            old = tf.convert_to_tensor(self._moving_variance)
            new_variance = smart_where(self._is_training, new, old)
            moved = self._moving_variance.assign(new_variance)
        with tf.control_dependencies(correction_updates):
            return [move(self._moving_mean, mean, decay), moved]

    def _stddev_from_variance(self, variance: Any) -> Any:
        return tf.sqrt(variance + self._epsilon)

    def _clip(self, values: Any, lower: str, upper: str) -> Any:
        if lower in self._clipping:
            bound = self._clipping[lower]
            values = tf.maximum(values, -bound if lower == upper else bound)
        return tf.minimum(values, self._clipping[upper]) if upper in self._clipping else values
