"""Streaming confusion matrix of an evaluation, and names of classes in metrics.

Models compute accuracy, recall and IoU of all classes from this one matrix: each batch is counted
once. A class name such as `T-shirt/top` becomes `T-shirt_top`, which a metric's name may contain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: int, *, weights: Any = None
) -> tuple[Any, Any]:
    """Counts predictions of each class over all batches of an evaluation.

    Args:
      labels: `[count]` integers.
      predictions: the same shape, classes.
      num_classes: number of classes.
      weights: the same shape, 0 for pairs that do not count; None: all count.

    Returns:
      The matrix `[label, prediction]` float64 of the batches so far, and the op that adds
      a batch.
    """
    total = tf.get_variable(
        "confusion_matrix",
        shape=[num_classes, num_classes],
        dtype=tf.float64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )
    batch = tf.math.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=tf.float64
    )
    return tf.convert_to_tensor(total), tf.assign_add(total, batch)


def metric_names(class_names: Sequence[str], num_classes: int) -> list[str]:
    """Returns names of all classes that can be part of a metric's name.

    Args:
      class_names: names of the first classes; numbers stand in for missing ones. Equal
        names are told apart by their labels.
      num_classes: number of classes.
    """
    given = [*class_names[:num_classes], *map(str, range(len(class_names), num_classes))]
    names = [re.sub(r"[^\w.-]", "_", name) for name in given]
    return [
        name if names.count(name) == 1 else f"{name}_{label}" for label, name in enumerate(names)
    ]
