"""Streaming metrics of a classifier, and its confusion matrix as an image.

The recall of each class shows the rare classes that a good accuracy hides; the image shows the
confused classes in TensorBoard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import ClassMean, ClassMetric
from tf_frame_vision.confusion import (
    confusion_files,
    confusion_image,
    confusion_matrix,
    mean_of_defined,
    metric_names,
)

_TOP = 5


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
      classes that occur; `recall_NAME` of each class (NaN for one that does not occur), or, of
      more classes, `mean_recall_classes`, the number of those that occur;
      `confusion_matrix`, `[num_classes, num_classes]`, rows are labels; and
      `confusion_matrix_image`, a serialised summary; and of more than
      20 classes those of `confusion_files`. Each is a (value, update op) pair.
    """
    num_classes = int(logits.shape[1])
    total, update = confusion_matrix(labels, tf.argmax(logits, axis=1), num_classes)
    hits, of_class = tf.diag_part(total), tf.reduce_sum(total, axis=1)
    recall = hits / of_class
    values = {
        "accuracy": tf.div_no_nan(tf.reduce_sum(hits), tf.reduce_sum(of_class)),
        ClassMean("mean_recall", "recall"): mean_of_defined(recall),
    }
    if num_classes <= max_class_metrics:
        for index, name in enumerate(metric_names(class_names, num_classes)):
            values[ClassMetric("recall", name)] = recall[index]
    else:
        values["mean_recall_classes"] = tf.math.count_nonzero(of_class)
    metrics = {name: (tf.cast(value, tf.float32), update) for name, value in values.items()}
    if num_classes > _TOP:
        hit = tf.nn.in_top_k(logits, labels, _TOP)
        metrics["top_5_accuracy"] = tf.metrics.mean(tf.cast(hit, tf.float32))
    metrics["confusion_matrix"] = total, update
    metrics["confusion_matrix_image"] = confusion_image(total, class_names), update
    files = confusion_files(total, class_names)
    metrics |= {name: (content, update) for name, content in files.items()}
    return metrics
