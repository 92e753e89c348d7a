"""Image files as records have them; each is decoded once, so that damage is found early."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tf_frame_vision.convert.records import CorruptImage
from tf_frame_vision.reading.image_header import ImageError, open_image
from tf_frame_vision.reading.image_options import image_options
from tf_frame_vision.reading.orientation import UPRIGHT
from tf_frame_vision.reading.pixels import load_pixels, raw_mode


@dataclasses.dataclass(frozen=True)
class Encoded:
    """The content of an image file, its format and its size in pixels."""

    content: bytes
    image_format: str
    height: int
    width: int


def encode(filename: str, loaded: Any, options: Any = None) -> Encoded:
    """Decodes a picture to make sure that a reader can.

    Upright JPEG, PNG and BMP files of 8 bits, which every reader of records decodes as they are
    shown, stay as they are. Other files, and pixels, become a PNG.

    Args:
      filename: its name, for errors.
      loaded: content of an image file, or pixels `[height, width, channels]` uint8.
      options: limits and ranges; see `tf_frame_vision.reading.image_options`.

    Raises:
      CorruptImage: it cannot be decoded.
    """
    if not isinstance(loaded, bytes):
        return _png(loaded)
    limits = image_options(options)
    try:
        pixels = load_pixels(loaded, max_pixels=limits.max_pixels, image_range=limits.image_range)
        with open_image(loaded, max_pixels=limits.max_pixels) as (image, header):
            is_common = header.orientation == UPRIGHT and _is_common(image, header.format)
    except ImageError as error:
        raise CorruptImage(f"{filename}: {error}") from error
    if is_common:
        return Encoded(loaded, header.format.lower(), header.height, header.width)
    return _png(pixels)


def _is_common(image: Any, image_format: str) -> bool:
    """Returns whether every reader of records knows an image, opened by Pillow."""
    if image_format == "BMP":
        return len(image.tile) == 1 and raw_mode(image.tile[0]) == "BGR"
    if image_format == "PNG":
        return not any("16" in raw_mode(part) for part in image.tile)
    return image_format == "JPEG" and image.mode in ("L", "RGB")


def serialized(values: Mapping[str, Any]) -> bytes:
    """Returns an example; the same bytes in each run.

    Args:
      values: key -> bytes, an integer, a list of bytes, or an array of integers or floats.
    """
    features = tf.train.Features(feature={key: _feature(value) for key, value in values.items()})
    # The features are a map, which has another order in each process.
    return bytes(tf.train.Example(features=features).SerializeToString(deterministic=True))


def read_value(record: bytes, key: str) -> Any:
    """Returns the value of a key of a serialized example, bytes or an integer.

    Raises:
      ValueError: the record is no example, or does not have the key.
    """
    try:
        feature = tf.train.Example.FromString(record).features.feature[key]
        return (feature.bytes_list.value or feature.int64_list.value)[0]
    except (IndexError, DecodeError) as error:
        raise ValueError(f"it is no example with {key}") from error


def _png(pixels: Any) -> Encoded:
    height, width, _ = pixels.shape
    return Encoded(tf.io.encode_png(pixels).numpy(), "png", height, width)


def _feature(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    if isinstance(value, (bytes, list)):
        texts = value if isinstance(value, list) else [value]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=texts))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=np.atleast_1d(value)))
