"""Sizes of feature maps, known or not before the run."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def spatial_size(inputs: Any) -> Any:
    """Returns `[height, width]`: a list of numbers if known, else a tensor.

    Args:
      inputs: `[batch, height, width, ...]`.
    """
    size = inputs.shape[1:3]
    return size.as_list() if size.is_fully_defined() else tf.shape(inputs)[1:3]


def resize_bilinear(inputs: Any, size: Any, *, align_corners: bool = False) -> Any:
    """Resizes by bilinear interpolation; does nothing when the size is that already.

    Args:
      inputs: `[batch, height, width, channels]`, of any numeric type.
      size: `[new_height, new_width]`, as `spatial_size` gives it.
      align_corners: whether the centres of corner pixels coincide, which suits
        sizes of the form `stride * n + 1`; otherwise the outer edges coincide.

    Returns:
      `[batch, new_height, new_width, channels]`, float32.
    """
    if isinstance(size, list) and inputs.shape[1:3].as_list() == size:
        return tf.cast(inputs, tf.float32)
    # The op itself: `tf.image.resize_bilinear` says that it is deprecated.
    return tf.raw_ops.ResizeBilinear(
        images=inputs,
        size=size,
        align_corners=align_corners,
        half_pixel_centers=not align_corners,
    )
