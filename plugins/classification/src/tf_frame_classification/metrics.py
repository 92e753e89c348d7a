"""How well a classifier does, over all batches of an evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_classification.confusion_image import confusion_image

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
      classes that occur; `recall_NAME` of each class (0 for one that does not occur);
      `confusion_matrix`, `[num_classes, num_classes]`, rows are labels; and
      `confusion_matrix_image`, a serialised summary. Each is a (value, update op) pair.
    """
    num_classes = int(logits.shape[1])
    total, update = _confusion(labels, tf.argmax(logits, axis=1), num_classes)
    hits, of_class = tf.diag_part(total), tf.reduce_sum(total, axis=1)
    recall = tf.div_no_nan(hits, of_class)
    occurring = tf.reduce_sum(tf.cast(of_class > 0, tf.float64))
    values = {
        "accuracy": tf.div_no_nan(tf.reduce_sum(hits), tf.reduce_sum(of_class)),
        "mean_recall": tf.div_no_nan(tf.reduce_sum(recall), occurring),
    }
    if num_classes <= max_class_metrics:
        for index, name in enumerate(_names(class_names, num_classes)):
            values[f"recall_{name}"] = recall[index]
    metrics = {name: (tf.cast(value, tf.float32), update) for name, value in values.items()}
    if num_classes > _TOP:
        hit = tf.nn.in_top_k(logits, labels, _TOP)
        metrics["top_5_accuracy"] = tf.metrics.mean(tf.cast(hit, tf.float32))
    metrics["confusion_matrix"] = total, update
    metrics["confusion_matrix_image"] = confusion_image(total), update
    return metrics


def _confusion(labels: Any, predicted: Any, num_classes: int) -> tuple[Any, Any]:
    """Returns the matrix `[label, prediction]` so far, and the op that adds a batch."""
    total = tf.get_variable(
        "confusion_matrix",
        shape=[num_classes, num_classes],
        dtype=tf.float64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )
    batch = tf.math.confusion_matrix(labels, predicted, num_classes, dtype=tf.float64)
    return tf.convert_to_tensor(total), tf.assign_add(total, batch)


def _names(class_names: Sequence[str], num_classes: int) -> list[str]:
    """What metrics call the classes; the label makes names different that come out alike."""
    given = [*class_names[:num_classes], *map(str, range(len(class_names), num_classes))]
    names = [re.sub(r"[^\w.-]", "_", name) for name in given]
    return [
        name if names.count(name) == 1 else f"{name}_{label}" for label, name in enumerate(names)
    ]
