"""`sequence_loss`: weighted cross-entropy of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Returns the weighted cross-entropy: a scalar, or a vector or matrix with fewer reductions.

    Args:
      logits: `[batch, time, classes]`.
      targets: classes, `[batch, time]`.
      weights: `[batch, time]`; 0 for padding.
      average_across_timesteps, average_across_batch: whether to sum over the axis and divide by
        the sum of the weights.
      sum_over_timesteps, sum_over_batch: whether to sum over the axis and divide by the number of
        weights other than 0.
      softmax_loss_function: function `(labels, logits)` that returns losses, which is called with
        these keywords; None: softmax cross-entropy.
      name: name scope.

    Raises:
      ValueError: a rank is wrong, or an axis has both kinds of reduction.
    """
    for what, tensor, rank in (
        ("Logits", logits, 3),
        ("Targets", targets, 2),
        ("Weights", weights, 2),
    ):
        if tensor.shape.rank != rank:
            sizes = "[batch_size x sequence_length" + (" x logits]" if rank == 3 else "]")
            raise ValueError(f"{what} must be a {sizes} tensor, saw shape {tensor.shape}")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot be set to True at same time."
        )
    if average_across_batch and sum_over_batch:
        raise ValueError(
            "average_across_batch and sum_over_batch cannot be set to True at same time."
        )
    loss_function = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        losses = loss_function(
            labels=tf.reshape(targets, [-1]), logits=tf.reshape(logits, [-1, tf.shape(logits)[2]])
        )
        losses = tf.reshape(losses * tf.reshape(weights, [-1]), tf.shape(logits)[:2])
        if average_across_batch or average_across_timesteps:
            return _over(losses, weights, (average_across_batch, average_across_timesteps))
        if sum_over_batch or sum_over_timesteps:
            counts = tf.cast(tf.not_equal(weights, 0), losses.dtype)
            return _over(losses, counts, (sum_over_batch, sum_over_timesteps))
        return losses


def _over(losses: Any, sizes: Any, chosen: tuple[bool, bool]) -> Any:
    """Returns the losses over the sizes, both summed over the chosen axes."""
    axes = [axis for axis, is_chosen in enumerate(chosen) if is_chosen]
    return tf.div_no_nan(tf.reduce_sum(losses, axes), tf.reduce_sum(sizes, axes))
