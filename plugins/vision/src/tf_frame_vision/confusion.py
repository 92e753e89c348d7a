"""Streaming confusion matrix of an evaluation, its picture and page, names of classes in metrics.

Models compute accuracy, recall and IoU of all classes from this one matrix: each batch is counted
once. A class name such as `T-shirt/top` becomes `T-shirt_top`, which a metric's name may contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import EvaluationFile
from tf_frame_vision.drawing.confusion_page import confusion_page, confusions_text
from tf_frame_vision.drawing.confusion_picture import FIGURES, confusion_picture
from tf_frame_vision.drawing.png import encoded_png

# A class that is found half of the time has none of so many labels right in 3 % of evaluations.
_FEW_LABELS = 5


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: int, *, weights: Any = None
) -> tuple[Any, Any]:
    """Counts predictions of each class over all batches of an evaluation.

    Args:
      labels: `[count]` integers.
      predictions: the same shape, classes.
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


def mean_of_defined(values: Any) -> Any:
    """Returns the mean of the values that are not NaN; NaN without any.

    Args:
      values: `[count]` floats, such as the IoU of each class, which is 0 / 0 without an example.
    """
    is_defined = tf.logical_not(tf.is_nan(values))
    total = tf.reduce_sum(tf.where(is_defined, values, tf.zeros_like(values)))
    return total / tf.reduce_sum(tf.cast(is_defined, values.dtype))


def majority_share(matrix: np.ndarray) -> float:
    """Returns the accuracy of a prediction that is always the most frequent label.

    Args:
      matrix: `[label, prediction]` counts, as of `confusion_matrix`.
    """
    of_label = matrix.sum(axis=1)
    return float(of_label.max() / max(of_label.sum(), 1))


def majority_mean_iou(matrix: np.ndarray) -> float:
    """Returns the mean IoU of a prediction that is always the most frequent label.

    Its IoU is the share of the label, that of the other labels is 0.

    Args:
      matrix: `[label, prediction]` counts, as of `confusion_matrix`.
    """
    return majority_share(matrix) / max(int(np.count_nonzero(matrix.sum(axis=1))), 1)


def guessed_recalls(matrix: np.ndarray, class_names: Sequence[str]) -> dict[str, float]:
    """Returns the recalls of guessing with the frequencies of the labels: the share of each class.

    Two kinds of classes are left out: those more frequent than the mean, since an untrained model
    often predicts them, and those with fewer than 5 labels, since their recall is too uncertain.

    Args:
      matrix: `[label, prediction]` counts, as of `confusion_matrix`.
      class_names: names of the first classes.

    Returns:
      Name of a metric, such as `recall_cat` -> value.
    """
    of_label = matrix.sum(axis=1)
    return {
        f"recall_{name}": float(count / of_label.sum())
        for name, count in zip(metric_names(class_names, len(matrix)), of_label, strict=True)
        if _FEW_LABELS <= count <= of_label.mean()
    }


def confusion_image(matrix: Any, class_names: Sequence[str]) -> Any:
    """Draws a confusion matrix, as `tf_frame_vision.drawing.confusion_picture` has it.

    Args:
      matrix: `[num_classes, num_classes]`, rows are labels.
      class_names: names of the first classes.

    Returns:
      A scalar string, a serialised `tf.Summary` with one image.
    """

    def drawn(values: Any) -> bytes:
        pixels = confusion_picture(values, class_names)
        image = tf.Summary.Image(
            height=pixels.shape[0],
            width=pixels.shape[1],
            colorspace=3,
            encoded_image_string=encoded_png(pixels),
        )
        summary = tf.Summary(value=[tf.Summary.Value(tag="confusion_matrix", image=image)])
        serialised: bytes = summary.SerializeToString()
        return serialised

    image = tf.numpy_function(drawn, [matrix], tf.string)
    image.set_shape([])
    return image


def confusion_files(matrix: Any, class_names: Sequence[str]) -> dict[str, Any]:
    """Returns the files of the confusions of many classes, whose picture has no figures.

    Args:
      matrix: `[num_classes, num_classes]`, rows are labels.
      class_names: names of the first classes.

    Returns:
      `confusions.txt`, the most frequent ones, and `confusion_matrix.html`, each a scalar string;
      nothing up to 20 classes.
    """
    if int(matrix.shape[0]) <= FIGURES:
        return {}
    makers = {"confusions.txt": confusions_text, "confusion_matrix.html": confusion_page}

    def made(make: Callable[..., str]) -> Any:
        content = tf.numpy_function(
            lambda values: make(values, class_names).encode(), [matrix], tf.string
        )
        content.set_shape([])
        return content

    return {EvaluationFile(name): made(make) for name, make in makers.items()}


def metric_names(class_names: Sequence[str], num_classes: int) -> list[str]:
    """Returns names of all classes that can be part of a metric's name.

    Args:
      class_names: names of the first classes; numbers stand in for missing ones. Equal
        names are told apart by their labels.
    """
    raw_names = [*class_names[:num_classes], *map(str, range(len(class_names), num_classes))]
    names = [re.sub(r"[^\w.-]", "_", name) for name in raw_names]
    return [
        name if names.count(name) == 1 else f"{name}_{label}" for label, name in enumerate(names)
    ]
