"""A picture of a confusion matrix."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

_SIDE = 320
_SMALLEST_WITH_LINES = 4


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
    # The root makes few wrong answers visible.
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
    """1.0 where the lines between cells are, else 0.0: `[height, width, 1]`."""
    edge = tf.equal(tf.range(num_classes * side) % side, side - 1)
    lines = tf.logical_or(edge[:, tf.newaxis], edge[tf.newaxis])
    return tf.cast(lines[..., tf.newaxis], tf.float32)
