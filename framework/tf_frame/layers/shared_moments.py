"""Statistics of a batch that lies on several clones.

A clone is built before the next one, so what it needs of the others is not there
yet. It goes on with what it has itself, by way of an operation whose input can be
changed later: `tf_frame.graph.shared_statistics` does that when all clones and
their gradients are there. In a graph with one clone it stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.moments import Moments

# The collection of what clones share. Two entries for each: the tensor of a forward pass, and the
# one to be exchanged; they are the same unless the latter is a gradient of the former.
TO_SHARE = "tf_frame/to_share"


def shared_moments(moments: Moments) -> Moments:
    """Makes the moments of one clone those of all.

    The gradient that a clone gets for its own moments is that of the losses of
    all clones, added up.

    Args:
      moments: those of the clone's own part of the batch.
    """

    def share(mean: Any, variance: Any) -> Any:
        count = tf.fill(tf.shape(mean), moments.count)
        shared = _to_share(tf.stack([mean, variance, count]))
        of_all = Moments(*tf.unstack(shared))

        def gradient(*upstream: Any) -> tuple[Any, Any]:
            by_mean, by_variance = tf.unstack(_to_share(tf.stack(upstream[:2]), shared))
            part = count / of_all.count
            return part * (by_mean + 2 * (mean - of_all.mean) * by_variance), part * by_variance

        return (of_all.mean, of_all.variance, of_all.count), gradient

    mean, variance, counts = tf.custom_gradient(share)(moments.mean, moments.variance)
    return Moments(mean, variance, counts[0])


def combined_moments(of_clones: Sequence[Any]) -> Any:
    """Puts the moments of several parts of a batch together.

    Args:
      of_clones: for each part `[3, channels]`: means, variances, counts.

    Returns:
      `[3, channels]`, of the whole batch.
    """
    means, variances, counts = tf.unstack(tf.stack(of_clones, axis=1))
    count = tf.reduce_sum(counts, axis=0)
    mean = tf.reduce_sum(counts * means, axis=0) / count
    # No difference of two large squares: it would be small only by luck.
    squares = counts * (variances + tf.square(means - mean))
    return tf.stack([mean, tf.reduce_sum(squares, axis=0) / count, count])


def _to_share(values: Any, origin: Any = None) -> Any:
    slot = tf.identity(values, name="shared")
    tf.add_to_collection(TO_SHARE, slot if origin is None else origin)
    tf.add_to_collection(TO_SHARE, slot)
    return slot
