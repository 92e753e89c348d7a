"""Spatial transformer of words: localisation, thin-plate spline, sampling (arXiv:1603.03915)."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame_recognition.rectification.localisation import control_points
from tf_frame_recognition.rectification.thin_plate_spline import (
    MARGINS,
    frame_points,
    sample,
    sampling_grid,
)


class Rectified(NamedTuple):
    """Straightened images.

    Attributes:
      images: `[batch, height, width, channels]` float32, 0 to 255.
      control_points: `[batch, k, 2]` float32: x, y as shares of the width and the height of the
        image that was given; first those along the upper edge of the word, left to right, then
        those along the lower.
    """

    images: Any
    control_points: Any


def rectify(
    images: Any,
    mode: Mode,
    *,
    output_size: tuple[int, int],
    num_control_points: int = 20,
    margins: tuple[float, float] = MARGINS,
    activation: str = "none",
    batch_norm_decay: float = 0.99,
) -> Rectified:
    """Straightens words. Variables are `SpatialTransformer/LocalizationNet/...`.

    Args:
      images: `[batch, height, width, channels]` float32, 0 to 255.
      mode: batch norm takes the statistics of the batch in training.
      output_size: height and width of the result.
      num_control_points: an even number of at least 4; 20 as published.
      margins: from the edges of the result to the points that the control points are moved to,
        horizontal and vertical, as shares.
      activation: `none`, or `sigmoid`, which keeps control points inside the image.
      batch_norm_decay: what moving statistics keep per step.

    Raises:
      ConfigError: an argument is out of range.
    """
    frame = frame_points(num_control_points, margins)
    with tf.variable_scope("SpatialTransformer"):
        with tf.variable_scope("LocalizationNet"):
            points = control_points(
                images,
                frame,
                is_training=mode == Mode.TRAIN,
                activation=activation,
                batch_norm_decay=batch_norm_decay,
            )
        grid = sampling_grid(points, output_size, margins=margins)
        return Rectified(sample(images, grid), points)
