"""Segmentation metrics, all made from one confusion matrix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.loss import counted


def segmentation_metrics(
    labels: Any,
    predictions: Any,
    *,
    num_classes: int,
    class_names: Sequence[str] = (),
    ignore_label: int | None = None,
) -> dict[str, tuple[Any, Any]]:
    """Counts pixels over all batches of an evaluation.

    Args:
      labels: `[batch, height, width]` int32.
      predictions: the same shape, classes.
      num_classes: number of classes, the background included.
      class_names: their names; numbers stand in for missing ones.
      ignore_label: label of pixels that do not count.

    Returns:
      `mean_iou` over the classes that occur in labels or predictions,
      `pixel_accuracy`, and `iou_<class name>` (0 for a class that does not
      occur), each a (value, update op) pair. The updates are one and the same.
    """
    total, update = _confusion(labels, predictions, num_classes, ignore_label)
    hits = tf.diag_part(total)
    union = tf.reduce_sum(total, axis=0) + tf.reduce_sum(total, axis=1) - hits
    iou = tf.div_no_nan(hits, union)
    occurring = tf.reduce_sum(tf.cast(union > 0, tf.float64))
    values = {
        "mean_iou": tf.div_no_nan(tf.reduce_sum(iou), occurring),
        "pixel_accuracy": tf.div_no_nan(tf.reduce_sum(hits), tf.reduce_sum(total)),
    }
    for index in range(num_classes):
        values[f"iou_{_name(class_names, index)}"] = iou[index]
    return {name: (tf.cast(value, tf.float32), update) for name, value in values.items()}


def _confusion(
    labels: Any, predictions: Any, num_classes: int, ignore_label: int | None
) -> tuple[Any, Any]:
    """Returns the matrix `[label, prediction]` so far, and the op that adds a batch."""
    total = tf.get_variable(
        "confusion_matrix",
        shape=[num_classes, num_classes],
        dtype=tf.float64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )
    weights = counted(labels, ignore_label)
    known = tf.where(weights > 0, labels, tf.zeros_like(labels))
    batch = tf.math.confusion_matrix(
        tf.reshape(known, [-1]),
        tf.reshape(predictions, [-1]),
        num_classes,
        weights=tf.reshape(weights, [-1]),
        dtype=tf.float64,
    )
    return tf.convert_to_tensor(total), tf.assign_add(total, batch)


def _name(class_names: Sequence[str], index: int) -> str:
    name = class_names[index] if index < len(class_names) else str(index)
    return re.sub(r"[^\w.-]", "_", name)
