"""Loss, metrics and image summaries of the model `deeplab` for the classes of pixels.

Pixels without a class (`ignore_label`), such as pixels beyond a tile, count in neither loss
nor metrics. Intersection over union (IoU) of each class is the usual measure: where most pixels
are background, pixel accuracy is high even where every object is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import ClassMean, ClassMetric
from tf_frame_vision.confusion import (
    confusion_files,
    confusion_image,
    confusion_matrix,
    mean_of_defined,
    metric_names,
)

# Number of image summaries, and grey level of ignored pixels in them.
_MAX_IMAGES = 3
_IGNORED_GREY = 127


class PixelLoss(NamedTuple):
    """The loss of a batch of pixels.

    Attributes:
      total: scalar, sum over the pixels.
      count: scalar, number of pixels that the mean is over.
    """

    total: Any
    count: Any

    def mean(self) -> Any:
        """Returns the mean; 0 if no pixel counts."""
        return tf.div_no_nan(self.total, self.count, name="loss")


def segmentation_loss(logits: Any, labels: Any, ignore_label: int | None) -> PixelLoss:
    """Returns the softmax cross entropy of the pixels that count.

    Args:
      logits: `[batch, height, width, num_classes]`.
      labels: `[batch, height, width]` int32.
      ignore_label: label of pixels that do not count.
    """
    labels, weights = _usable_labels(labels, ignore_label)
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return PixelLoss(tf.reduce_sum(entropy * weights), tf.reduce_sum(weights))


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
      class_names: names of the classes; a number stands for a missing name.
      ignore_label: label of pixels that do not count.

    Returns:
      `mean_iou` over the classes that occur in labels or predictions,
      `pixel_accuracy`, and of each class `iou_<class name>`, `precision_...`,
      `recall_...` (NaN where nothing is predicted or labelled as the class) and `pixels_...`, the
      number of pixels with its label (NaN for a class that does not occur);
      `confusion_matrix`, `[num_classes, num_classes]`, rows are labels; and
      `confusion_matrix_image`, a serialised summary; and of more than
      20 classes those of `confusion_files`. Each is a (value, update op) pair. All
      pairs share one update.
    """
    labels, weights = _usable_labels(labels, ignore_label)
    pixels = (tf.reshape(values, [-1]) for values in (labels, predictions, weights))
    labels, predictions, weights = pixels
    total, update = confusion_matrix(labels, predictions, num_classes, weights=weights)
    hits = tf.diag_part(total)
    predicted, actual = tf.reduce_sum(total, axis=0), tf.reduce_sum(total, axis=1)
    union = predicted + actual - hits
    iou = hits / union
    values = {
        ClassMean("mean_iou", "iou"): mean_of_defined(iou),
        "pixel_accuracy": tf.div_no_nan(tf.reduce_sum(hits), tf.reduce_sum(total)),
    }
    class_values = {
        "iou": iou,
        "precision": hits / predicted,
        "recall": hits / actual,
        "pixels": tf.where(tf.is_nan(iou), iou, actual),
    }
    names = metric_names(class_names, num_classes)
    for kind, value in class_values.items():
        values |= {ClassMetric(kind, name): value[index] for index, name in enumerate(names)}
    metrics = {name: (tf.cast(value, tf.float32), update) for name, value in values.items()}
    metrics["confusion_matrix"] = total, update
    metrics["confusion_matrix_image"] = confusion_image(total, class_names), update
    files = confusion_files(total, class_names)
    metrics |= {name: (content, update) for name, content in files.items()}
    return metrics


def image_summaries(
    images: Any, labels: Any, predictions: Any, *, num_classes: int, ignore_label: int | None
) -> None:
    """Adds summaries of the image, its labels and the prediction.

    Classes are spread from black to white; ignored pixels are grey.

    Args:
      images: `[batch, height, width, 3]`, values from 0 to 255.
      labels: `[batch, height, width]` int32.
      predictions: the same shape, classes.
      num_classes: number of classes.
      ignore_label: label of pixels that do not count, or None.
    """
    add_pictures("image", tf.saturate_cast(images, tf.uint8))
    add_pictures("label", labels_to_grey(labels, num_classes, ignore_label))
    add_pictures("prediction", to_grey(predictions, num_classes))


def labels_to_grey(labels: Any, num_classes: int, ignore_label: int | None) -> Any:
    """Spreads classes from black to white; ignored pixels are grey.

    Args:
      labels: `[batch, height, width]` int32.
      num_classes: number of classes.
      ignore_label: label of pixels that do not count, or None.
    """
    picture = to_grey(labels, num_classes)
    if ignore_label is None:
        return picture
    grey = tf.fill(tf.shape(picture), tf.constant(_IGNORED_GREY, tf.uint8))
    return tf.where(tf.equal(labels, ignore_label)[..., tf.newaxis], grey, picture)


def to_grey(classes: Any, num_classes: int) -> Any:
    """Spreads classes, `[batch, height, width]`, from black to white; `[..., 1]` uint8."""
    spread = tf.cast(classes, tf.float32) * (255.0 / max(num_classes - 1, 1))
    return tf.saturate_cast(spread[..., tf.newaxis], tf.uint8)


def add_pictures(name: str, pictures: Any) -> None:
    """Adds a summary of the first pictures of a batch, uint8."""
    tf.summary.image(name, pictures, max_outputs=_MAX_IMAGES)


def _usable_labels(labels: Any, ignore_label: int | None) -> tuple[Any, Any]:
    """Returns labels with 0 for ignored labels, and weights: 0.0 for ignored labels, else 1.0.

    Args:
      labels: `[batch, height, width]` int32.
      ignore_label: the value to leave out; None leaves out nothing.
    """
    if ignore_label is None:
        return labels, tf.ones_like(labels, dtype=tf.float32)
    counts = tf.not_equal(labels, ignore_label)
    # Ignored labels may lie outside the classes, where a loss would be NaN.
    return tf.where(counts, labels, tf.zeros_like(labels)), tf.cast(counts, tf.float32)
