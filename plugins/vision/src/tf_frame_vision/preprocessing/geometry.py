"""Padding, cropping, resizing and mirroring of one image, as slim does.

Published checkpoints were trained with slim's resizing and rounding, which differ from those of
`augmentation`; on other pixels they would be less accurate.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import DataError
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import Sample
from tf_frame_vision.resizing import LEGACY, PLACES

RESIZE_METHODS = {
    "bilinear": tf.image.ResizeMethod.BILINEAR,
    "nearest": tf.image.ResizeMethod.NEAREST_NEIGHBOR,
    "bicubic": tf.image.ResizeMethod.BICUBIC,
    "area": tf.image.ResizeMethod.AREA,
}


def count_channels(image: Any) -> int:
    """Returns the number of channels, 1 or 3.

    Args:
      image: `[height, width, channels]`.

    Raises:
      DataError: the image has another rank, or another or an unknown number of channels.
    """
    shape = image.shape
    channels = shape.as_list()[-1] if shape.ndims == 3 else None
    if channels not in (1, 3):
        raise DataError(
            f"an image to preprocess has the shape {shape}; "
            "it must be [height, width, channels], with 1 or 3 channels known beforehand"
        )
    return int(channels)


def crop_or_pad(image: Any, height: int, width: int) -> Any:
    """Cuts from the middle, or adds zeros around, without any scaling."""
    return tf.image.resize_image_with_crop_or_pad(image, height, width)


def random_crop(image: Any, height: int, width: int, seed: Any) -> Any:
    """Cuts a window from a random place; see `tf_frame_vision.augmentation.random_crop`."""
    return augmentation.random_crop(Sample(image), height, width, seed).image


def central_crop(image: Any, height: int, width: int) -> Any:
    """Cuts a window from the middle; an odd margin is smaller above and to the left."""
    size = tf.shape(image)
    top, left = (size[0] - height) // 2, (size[1] - width) // 2
    return augmentation.crop(Sample(image), top, left, height, width).image


def resize_bilinear(image: Any, height: Any, width: Any) -> Any:
    """Resizes as slim did: the pixels' corners coincide, not their centres.

    Published checkpoints were trained that way (`half_pixel_centers=False`).

    Returns:
      `[height, width, channels]` float32.
    """
    # TensorFlow Lite resizes no uint8 to float32; the kernel computes the same.
    images = tf.cast(image, tf.float32)[tf.newaxis]
    return layers.resize_bilinear(images, tf.stack([height, width]), **PLACES[LEGACY])[0]


def resize_smaller_side(image: Any, side: Any) -> Any:
    """Resizes the smaller side to a length, with the aspect ratio kept.

    Args:
      image: `[height, width, channels]`.
      side: the length, in pixels; may be a tensor.

    Returns:
      `[new_height, new_width, channels]` float32.
    """
    height, width = tf.unstack(tf.cast(tf.shape(image)[:2], tf.float32))
    # Divided first, as in slim: rounding may differ by a pixel otherwise.
    scale = tf.cast(side, tf.float32) / tf.minimum(height, width)
    new_height, new_width = (tf.cast(tf.rint(edge * scale), tf.int32) for edge in (height, width))
    return resize_bilinear(image, new_height, new_width)


def random_flip(image: Any, seed: Any) -> Any:
    """Mirrors the image, left to right, half the time."""
    return augmentation.random_flip(Sample(image), seed).image
