"""Mean and variance of channels for batch norm, over the batch of one clone or of all clones.

A clone is a copy of the model on one device; all clones together have a larger batch, with less
noisy statistics. Clones are built in turn, so the statistics of later clones do not exist yet when
a layer needs them. `shared_moments` therefore returns the clone's own statistics through an
identity operation. After all clones and their gradients are built,
`tf_frame.graph.sync_batch_norm` replaces the input of that operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

# Collection of the tensors to exchange between clones. A tensor has two entries: the tensor of the
# forward pass, and the tensor to exchange, which is the same or belongs to its gradient.
TO_SHARE = "tf_frame/to_share"


class Moments(NamedTuple):
    """Statistics of each channel.

    Attributes:
      mean, variance: `[channels]`; the variance is the biased one, divided by `count`.
      count: scalar, number of values per channel; with weights, the sum of weights.
    """

    mean: Any
    variance: Any
    count: Any

    def unbiased_variance(self) -> Any:
        """Returns the variance divided by `count - 1`, as the fused kernel computes it."""
        # For a single value, where the quotient is undefined, the kernel returns 0.
        return self.variance * self.count / tf.maximum(self.count - 1, 1)


def batch_moments(inputs: Any, axis: int, dtype: Any, weights: Any = None) -> Moments:
    """Computes the moments over all axes other than the channel axis.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]`.
      dtype: type to compute in.
      weights: `[batch]`, weight of each example; None: equal weights.

    Raises:
      ValueError: the number of weights differs from the number of examples.
    """
    values = tf.cast(inputs, dtype)
    rank, channels = inputs.shape.rank, inputs.shape.as_list()[axis]
    axes = [index for index in range(rank) if index != axis]
    per_channel = tf.cast(tf.size(values) // channels, dtype)
    if weights is None:
        mean, variance = tf.nn.moments(values, axes)
        return Moments(mean, variance, per_channel)
    weights = tf.cast(weights, dtype)
    inputs.shape[:1].assert_is_compatible_with(weights.shape)
    count = tf.reduce_mean(weights) * per_channel
    weights = tf.reshape(weights, [-1] + [1] * (rank - 1))
    mean, variance = tf.nn.weighted_moments(values, axes, weights)
    return Moments(mean, variance, count)


def shared_moments(moments: Moments) -> Moments:
    """Replaces the moments of one clone by the moments of all clones.

    The gradient with respect to the clone's moments belongs to the sum of all clones' losses.
    """

    def share(mean: Any, variance: Any) -> Any:
        count = tf.fill(tf.shape(mean), moments.count)
        shared = _to_share(tf.stack([mean, variance, count]))
        total = Moments(*tf.unstack(shared))

        def gradient(*upstream: Any) -> tuple[Any, Any]:
            by_mean, by_variance = tf.unstack(_to_share(tf.stack(upstream[:2]), shared))
            part = count / total.count
            return part * (by_mean + 2 * (mean - total.mean) * by_variance), part * by_variance

        return tuple(total), gradient

    mean, variance, counts = tf.custom_gradient(share)(moments.mean, moments.variance)
    return Moments(mean, variance, counts[0])


def combined_moments(clone_moments: Sequence[Any]) -> Any:
    """Combines `[3, channels]` of each clone: means, variances, counts; returns the same of all."""
    means, variances, counts = tf.unstack(tf.stack(clone_moments, axis=1))
    count = tf.reduce_sum(counts, axis=0)
    mean = tf.reduce_sum(counts * means, axis=0) / count
    # Not mean square minus squared mean: the difference of two large numbers loses precision.
    squares = counts * (variances + tf.square(means - mean))
    return tf.stack([mean, tf.reduce_sum(squares, axis=0) / count, count])


def _to_share(values: Any, origin: Any = None) -> Any:
    slot = tf.identity(values, name="shared")
    tf.add_to_collection(TO_SHARE, slot if origin is None else origin)
    tf.add_to_collection(TO_SHARE, slot)
    return slot
