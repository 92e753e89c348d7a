"""Weights of labels in a loss, as in DeepLab's core/utils.py."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def get_label_weight_mask(
    labels: Any, ignore_label: int, num_classes: int, label_weights: float | list[float] = 1.0
) -> Any:
    """Gives every label its weight, and 0 to those that are to be ignored.

    Same behaviour and errors as in tensorflow/models,
    research/deeplab/core/utils.py.

    Args:
      labels: labels of any shape, of an integer type if `label_weights` is a list.
      ignore_label: the label that does not count.
      num_classes: number of classes.
      label_weights: one weight for all, or a list with one for each class. With
        a list, labels that are no class weigh 0.

    Returns:
      float32 weights of the shape of `labels`.

    Raises:
      ValueError: `label_weights` is neither a float nor a list, or a list of
        another length than `num_classes`.
    """
    if not isinstance(label_weights, (float, list)):
        raise ValueError(
            "The type of label_weights is invalid, it must be a float or a list; "
            f"it is {label_weights!r}."
        )
    counts = tf.cast(tf.not_equal(labels, ignore_label), tf.float32)
    if isinstance(label_weights, float):
        return counts * label_weights
    if len(label_weights) != num_classes:
        raise ValueError(
            "Length of label_weights must be equal to num_classes if it is a list, "
            f"label_weights: {label_weights}, num_classes: {num_classes}."
        )
    of_class = tf.one_hot(labels, num_classes, dtype=tf.float32)
    return counts * tf.tensordot(of_class, tf.constant(label_weights, tf.float32), axes=1)
