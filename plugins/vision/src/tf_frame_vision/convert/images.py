"""Image files as records have them; each is decoded once, so that damage is found early."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tf_frame.errors import short_reason
from tf_frame_vision.convert.records import CorruptImage

_MAGIC_TO_FORMAT = {
    rb"\xff\xd8\xff": "jpeg",
    rb"\x89PNG": "png",
    rb"BM": "bmp",
    rb"GIF8": "gif",
    rb"RIFF....WEBP": "webp",
}
# Formats that slim's readers do not know.
_TO_PNG = ("gif", "webp")


@dataclasses.dataclass(frozen=True)
class Encoded:
    """The content of an image file, its format and its size in pixels."""

    content: bytes
    image_format: str
    height: int
    width: int


def encode(filename: str, loaded: Any) -> Encoded:
    """Decodes a picture to make sure that a reader can.

    Files stay as they are, but the first frame of a GIF and a WebP become a PNG; so do pixels.

    Args:
      filename: its name, for errors.
      loaded: content of an image file, or pixels `[height, width, channels]` uint8.

    Raises:
      CorruptImage: it cannot be decoded.
    """
    if not isinstance(loaded, bytes):
        return _png(loaded)
    image_format = _detect_format(loaded)
    if image_format is None:
        seen = f"begins with {loaded[:4].hex(' ')}" if loaded else "is empty"
        raise CorruptImage(f"{filename} {seen}: no JPEG, PNG, BMP, GIF or WebP")
    try:
        # Three channels, as readers ask for.
        pixels = tf.io.decode_image(loaded, channels=3, expand_animations=False)
    except tf.errors.OpError as error:
        raise CorruptImage(f"{filename} cannot be decoded: {_reason(error)}") from error
    if image_format in _TO_PNG:
        return _png(pixels.numpy())
    return Encoded(loaded, image_format, *(int(size) for size in pixels.shape[:2]))


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


def _detect_format(content: bytes) -> str | None:
    formats = [name for magic, name in _MAGIC_TO_FORMAT.items() if re.match(magic, content, re.S)]
    return formats[0] if formats else None


def _reason(error: Exception) -> str:
    """Returns the message of an op, without the place where it ran."""
    return short_reason(error).rpartition("}} ")[2].partition(" [Op:")[0]


def _feature(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    if isinstance(value, (bytes, list)):
        texts = value if isinstance(value, list) else [value]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=texts))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=np.atleast_1d(value)))
