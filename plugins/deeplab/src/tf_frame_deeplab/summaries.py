"""Pictures for TensorBoard."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

_MAX_IMAGES = 3
_IGNORED_GREY = 127


def image_summaries(
    images: Any, labels: Any, predictions: Any, *, num_classes: int, ignore_label: int | None
) -> None:
    """Adds the image, its labels and the prediction, side by side by name.

    Classes are spread from black to white; ignored pixels are grey.

    Args:
      images: `[batch, height, width, 3]`, values from 0 to 255.
      labels: `[batch, height, width]` int32.
      predictions: the same shape, classes.
      num_classes: number of classes.
      ignore_label: label of pixels that do not count, or None.
    """
    shown = _to_grey(labels, num_classes)
    if ignore_label is not None:
        grey = tf.fill(tf.shape(shown), tf.constant(_IGNORED_GREY, tf.uint8))
        shown = tf.where(tf.equal(labels, ignore_label)[..., tf.newaxis], grey, shown)
    _add("image", tf.saturate_cast(images, tf.uint8))
    _add("label", shown)
    _add("prediction", _to_grey(predictions, num_classes))


def _to_grey(classes: Any, num_classes: int) -> Any:
    spread = tf.cast(classes, tf.float32) * (255.0 / max(num_classes - 1, 1))
    return tf.saturate_cast(spread[..., tf.newaxis], tf.uint8)


def _add(name: str, pictures: Any) -> None:
    tf.summary.image(name, pictures, max_outputs=_MAX_IMAGES)
