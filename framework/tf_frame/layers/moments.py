"""Mean and variance of channels, of one batch or of those of all clones."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf


class Moments(NamedTuple):
    """Statistics of the values of each channel.

    Attributes:
      mean, variance: `[channels]`; the variance divides by `count`.
      count: scalar, how many values there are; the sum of their weights, if any.
    """

    mean: Any
    variance: Any
    count: Any

    def unbiased_variance(self) -> Any:
        """The variance that divides by `count - 1`, as the fused kernel's does."""
        # Of one value it is not defined; the kernel takes the value's own 0.
        return self.variance * self.count / tf.maximum(self.count - 1, 1)


def batch_moments(inputs: Any, axis: int, dtype: Any, weights: Any = None) -> Moments:
    """Computes the moments over all axes but that of the channels.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]`.
      axis: of the channels.
      dtype: what to compute in.
      weights: `[batch]`, how often each example counts; or None.

    Raises:
      ValueError: there are more or fewer weights than examples.
    """
    values = tf.cast(inputs, dtype)
    rank, channels = inputs.shape.rank, inputs.shape.as_list()[axis]
    others = [each for each in range(rank) if each != axis]
    per_channel = tf.cast(tf.size(values) // channels, dtype)
    if weights is None:
        mean, variance = tf.nn.moments(values, others)
        return Moments(mean, variance, per_channel)
    weights = tf.cast(weights, dtype)
    inputs.shape[:1].assert_is_compatible_with(weights.shape)
    count = tf.reduce_mean(weights) * per_channel
    weights = tf.reshape(weights, [-1] + [1] * (rank - 1))
    mean, variance = tf.nn.weighted_moments(values, others, weights)
    return Moments(mean, variance, count)
