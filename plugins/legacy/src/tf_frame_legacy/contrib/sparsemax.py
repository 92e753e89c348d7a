"""tf.contrib.sparsemax (Martins and Astudillo, arXiv:1602.02068)."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def sparsemax(logits: Any, name: str | None = None) -> Any:
    """Returns the projection of logits onto the simplex: probabilities, many of them 0.

    Args:
      logits: `[batch, classes]`; a row with NaN, or without a finite value, becomes NaN.
      name: op name.
    """
    with tf.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        ordered = tf.nn.top_k(logits, k=tf.shape(logits)[1]).values
        sums = tf.cumsum(ordered, axis=1)
        rank = tf.cumsum(tf.ones_like(ordered), axis=1)
        support = tf.reduce_sum(tf.cast(1 + rank * ordered > sums, tf.int32), axis=1)
        support_sum = tf.gather(sums, tf.maximum(support, 1) - 1, batch_dims=1)
        threshold = (support_sum - 1) / tf.cast(support, logits.dtype)
        defined = (support > 0) & ~tf.is_nan(sums[:, -1])
        projected = tf.nn.relu(logits - threshold[:, None])
        undefined = tf.fill(tf.shape(logits), tf.cast(float("nan"), logits.dtype))
        return tf.where(tf.broadcast_to(defined[:, None], tf.shape(logits)), projected, undefined)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Any:
    """Returns the loss `[batch]` that belongs to `sparsemax`.

    Args:
      logits: `[batch, classes]`.
      sparsemax: result of `sparsemax(logits)`.
      labels: probabilities `[batch, classes]`.
      name: op name.
    """
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits, probabilities, labels = map(tf.convert_to_tensor, (logits, sparsemax, labels))
        zeros = tf.zeros_like(logits)
        # Infinite logits must not become NaN where they are multiplied by 0.
        chosen = (probabilities > 0) | tf.is_nan(probabilities)
        gains = tf.where(chosen, probabilities * (logits - 0.5 * probabilities), zeros)
        unused = tf.equal(labels, 0) & tf.is_inf(logits)
        costs = tf.where(unused, zeros, labels * (0.5 * labels - logits))
        return tf.reduce_sum(gains + costs, axis=1)
