"""Turns pixels and points in a graph as `orientation` does, and finds orientations of records."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.orientation import TURNS, UPRIGHT

# Texts in files that may have an orientation, of EXIF and XMP data.
JPEG_EXIF, PNG_EXIF, XMP = b"Exif\0\0", b"eXIf", b"tiff:Orientation"
# ImageMagick writes EXIF data as a text into a PNG.
PNG_TEXTS = (XMP, b"Raw profile type exif")
_MARKS = (JPEG_EXIF, PNG_EXIF, *PNG_TEXTS, b"RIFF", b"II*\0", b"MM\0*")


def find_turn(data: Any, size: Any) -> Any:
    """Returns the orientation that turns annotations of a record to the image as shown.

    Annotations with the size of the stored image, if the shown image has another, were made by
    programs that ignore the orientation. Other annotations lie on the image as shown: 1.

    Args:
      data: scalar string, the encoded image.
      size: `[2]`, height and width that the annotations have.

    Returns:
      A scalar int32, 1 to 8.
    """

    def read(content: bytes, said: Any) -> Any:
        try:
            header = read_header(content, max_pixels=sys.maxsize)
        except ImageError:
            return np.int32(UPRIGHT)  # Its decoder says why.
        stored = (header.stored_height, header.stored_width)
        is_shown = tuple(said) != stored or stored == (header.height, header.width)
        return np.int32(UPRIGHT if is_shown else header.orientation)

    def turn() -> Any:
        return tf.numpy_function(read, [data, size], tf.int32, stateful=False)

    is_upright = lacks(data, _MARKS)
    return tf.ensure_shape(tf.cond(is_upright, lambda: tf.constant(UPRIGHT), turn), [])


def lacks(data: Any, texts: Sequence[bytes]) -> Any:
    """Returns whether one or several strings contain none of some texts."""
    strings = tf.reshape(data, [-1])
    # A split is many times faster than a regular expression.
    parts = [tf.raw_ops.StringSplitV2(input=strings, sep=text, maxsplit=1) for text in texts]
    count = tf.size(tf.concat([part.values for part in parts], 0))
    return tf.equal(count, tf.size(strings) * len(texts))


def turned(image: Any, orientation: Any) -> Any:
    """Turns `[height, width, channels]` as `orientation.turn_pixels` does, by a scalar integer."""
    shape = [None, None, image.shape[-1]]
    exchanged, *mirrored = _turn(orientation)
    image = tf.transpose(image, tf.where(exchanged, [1, 0, 2], [0, 1, 2]))
    image = tf.raw_ops.Reverse(tensor=image, dims=tf.stack([*mirrored, False]))
    return tf.ensure_shape(image, shape)


def turned_shares(points: Any, orientation: Any) -> Any:
    """Turns points of a stored image as `orientation.turn_points` does.

    Args:
      points: `[..., 2]` float32, y and x as shares of height and width.
      orientation: scalar integer.
    """
    exchanged, *mirrored = _turn(orientation)
    points = tf.where(exchanged, tf.gather(points, [1, 0], axis=-1), points)
    return tf.where_v2(tf.stack(mirrored), 1 - points, points)


def _turn(orientation: Any) -> Sequence[Any]:
    """Returns the row of `TURNS` of an orientation, a scalar integer."""
    turns: Sequence[Any] = tf.unstack(tf.constant([TURNS[UPRIGHT], *TURNS.values()])[orientation])
    return turns
