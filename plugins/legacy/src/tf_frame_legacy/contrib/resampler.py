"""tf.contrib.resampler, for spatial transformers: TensorFlow 2 lacks its operation."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def resampler(data: Any, warp: Any, name: str = "resampler") -> Any:
    """Samples images at points by bilinear interpolation; differentiable in both arguments.

    Args:
      data: `[batch, height, width, channels]`.
      warp: `[batch, ..., 2]`, x and y in pixels. Outside of the image values fall to 0 within one
        pixel, and are 0 beyond it.
      name: op name.

    Returns:
      `[batch, ..., channels]`.
    """
    with tf.name_scope(name, "resampler", [data, warp]):
        data, warp = (
            tf.convert_to_tensor(data, name="data"),
            tf.convert_to_tensor(warp, name="warp"),
        )
        places = warp[..., ::-1]
        floor = tf.floor(places)
        share, first = places - floor, tf.cast(floor, tf.int32)
        parts = []
        for row, row_weight in enumerate((1 - share[..., :1], share[..., :1])):
            for column, weight in enumerate((1 - share[..., 1:], share[..., 1:])):
                pixels = _pixels(data, first + tf.constant([row, column]))
                parts.append(row_weight * weight * pixels)
        return tf.add_n(parts)


def _pixels(data: Any, places: Any) -> Any:
    """Returns the pixels at rows and columns `[batch, ..., 2]`; 0 outside of the images."""
    last = tf.shape(data)[1:3] - 1
    inside = tf.reduce_all((places >= 0) & (places <= last), axis=-1, keepdims=True)
    pixels = tf.gather_nd(data, tf.clip_by_value(places, 0, last), batch_dims=1)
    return pixels * tf.cast(inside, data.dtype)
