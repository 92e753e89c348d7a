"""Streaming metrics of a classifier, and its confusion matrix as an image.

The recall of each class shows the rare classes that a good accuracy hides; the image shows in
TensorBoard which class is taken for which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.confusion import confusion_matrix, metric_names

_TOP = 5
# Height and width of the confusion matrix as an image, in pixels.
_SIDE = 320
_SMALLEST_WITH_LINES = 4


def classification_metrics(
    logits: Any, labels: Any, *, class_names: Sequence[str], max_class_metrics: int
) -> dict[str, tuple[Any, Any]]:
    """Counts right and wrong answers.

    Args:
      logits: `[batch, num_classes]`.
      labels: `[batch]` int32.
      class_names: names of the classes; numbers stand in for missing ones.
      max_class_metrics: with no more classes than this, there is a recall for each.

    Returns:
      `accuracy`; `top_5_accuracy` with more than 5 classes; `mean_recall` over the
      classes that occur; `recall_NAME` of each class (0 for one that does not occur);
      `confusion_matrix`, `[num_classes, num_classes]`, rows are labels; and
      `confusion_matrix_image`, a serialised summary. Each is a (value, update op) pair.
    """
    num_classes = int(logits.shape[1])
    total, update = confusion_matrix(labels, tf.argmax(logits, axis=1), num_classes)
    hits, of_class = tf.diag_part(total), tf.reduce_sum(total, axis=1)
    recall = tf.div_no_nan(hits, of_class)
    occurring = tf.reduce_sum(tf.cast(of_class > 0, tf.float64))
    values = {
        "accuracy": tf.div_no_nan(tf.reduce_sum(hits), tf.reduce_sum(of_class)),
        "mean_recall": tf.div_no_nan(tf.reduce_sum(recall), occurring),
    }
    if num_classes <= max_class_metrics:
        for index, name in enumerate(metric_names(class_names, num_classes)):
            values[f"recall_{name}"] = recall[index]
    metrics = {name: (tf.cast(value, tf.float32), update) for name, value in values.items()}
    if num_classes > _TOP:
        hit = tf.nn.in_top_k(logits, labels, _TOP)
        metrics["top_5_accuracy"] = tf.metrics.mean(tf.cast(hit, tf.float32))
    metrics["confusion_matrix"] = total, update
    metrics["confusion_matrix_image"] = confusion_image(total), update
    return metrics


def confusion_image(matrix: Any) -> Any:
    """Draws a confusion matrix: white for no answers, dark for all answers of a label.

    Rows are labels from the top down, columns predictions; each row is divided by its
    sum. Right answers, on the diagonal, are blue, wrong ones red.

    Args:
      matrix: `[num_classes, num_classes]`, rows are labels.

    Returns:
      A scalar string, a serialised `tf.Summary` with one image.
    """
    num_classes = int(matrix.shape[0])
    share = tf.cast(tf.div_no_nan(matrix, tf.reduce_sum(matrix, axis=1, keepdims=True)), tf.float32)
    # The square root makes a few wrong answers visible.
    strength = tf.sqrt(share)[..., tf.newaxis]
    right = tf.eye(num_classes)[..., tf.newaxis]
    ink = right * tf.constant([0.9, 0.6, 0.2]) + (1.0 - right) * tf.constant([0.1, 0.8, 0.9])
    cells = 1.0 - strength * ink
    side = max(_SIDE // num_classes, 1)
    pixels = tf.repeat(tf.repeat(cells, side, axis=0), side, axis=1)
    if side > _SMALLEST_WITH_LINES:
        pixels *= 1.0 - 0.2 * _lines(num_classes, side)
    image = tf.saturate_cast(pixels * 255.0, tf.uint8)
    return tf.summary.image("confusion_matrix", image[tf.newaxis], collections=[])


def _lines(num_classes: int, side: int) -> Any:
    """Returns 1.0 on lines between cells, else 0.0: `[height, width, 1]`."""
    edge = tf.equal(tf.range(num_classes * side) % side, side - 1)
    lines = tf.logical_or(edge[:, tf.newaxis], edge[tf.newaxis])
    return tf.cast(lines[..., tf.newaxis], tf.float32)
