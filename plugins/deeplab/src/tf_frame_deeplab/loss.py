"""The segmentation loss."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def counted(labels: Any, ignore_label: int | None) -> Any:
    """Says which pixels count: 1.0 where the label is not `ignore_label`, else 0.0.

    Args:
      labels: `[batch, height, width]` int32.
      ignore_label: the value to leave out; None leaves out nothing.
    """
    if ignore_label is None:
        return tf.ones_like(labels, dtype=tf.float32)
    return tf.cast(tf.not_equal(labels, ignore_label), tf.float32)


def segmentation_loss(logits: Any, labels: Any, ignore_label: int | None) -> Any:
    """Averages softmax cross entropy over the pixels that count.

    Args:
      logits: `[batch, height, width, num_classes]`.
      labels: `[batch, height, width]` int32.
      ignore_label: label of pixels that do not count.

    Returns:
      A scalar; 0 when no pixel counts.
    """
    weights = counted(labels, ignore_label)
    # Ignored labels may lie outside the classes, where the op would yield NaN.
    known = tf.where(weights > 0, labels, tf.zeros_like(labels))
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=known, logits=logits)
    return tf.div_no_nan(tf.reduce_sum(entropy * weights), tf.reduce_sum(weights), name="loss")
