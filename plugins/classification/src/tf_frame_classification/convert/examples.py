"""Encodes a picture as a serialized `tf.train.Example` with slim's feature keys.

Each picture is decoded once, so that a damaged one is found before a training fails on it.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tf_frame.errors import reason_of
from tf_frame_classification.convert.pictures import Picture

_MAGIC_TO_FORMAT = {
    rb"\xff\xd8\xff": "jpeg",
    rb"\x89PNG": "png",
    rb"BM": "bmp",
    rb"GIF8": "gif",
    rb"RIFF....WEBP": "webp",
}
# Formats that slim's readers do not know.
_TO_PNG = ("gif", "webp")


class CorruptImage(Exception):
    """An image file cannot be decoded; the text says which and why."""


@dataclasses.dataclass(frozen=True)
class Encoded:
    """The content of an image file, its format and its size in pixels."""

    content: bytes
    image_format: str
    height: int
    width: int


def encode(picture: Picture) -> Encoded:
    """Loads a picture, and decodes it to make sure that a reader can.

    Files stay as they are, but the first frame of a GIF and a WebP become a PNG; so do pixels.

    Raises:
      CorruptImage: the picture cannot be decoded.
    """
    loaded = picture.load()
    if not isinstance(loaded, bytes):
        return _png(loaded)
    image_format = _format_of(loaded)
    if image_format is None:
        seen = f"begins with {loaded[:4].hex(' ')}" if loaded else "is empty"
        raise CorruptImage(f"{picture.filename} {seen}: no JPEG, PNG, BMP, GIF or WebP")
    try:
        # Three channels, as readers ask for.
        pixels = tf.io.decode_image(loaded, channels=3, expand_animations=False)
    except tf.errors.OpError as error:
        raise CorruptImage(f"{picture.filename} cannot be decoded: {_reason(error)}") from error
    if image_format in _TO_PNG:
        return _png(pixels.numpy())
    return Encoded(loaded, image_format, *(int(size) for size in pixels.shape[:2]))


def serialize(picture: Picture, encoded: Encoded, class_name: str) -> bytes:
    """Returns the example; the same bytes in each run."""
    values: dict[str, Any] = {
        "image/encoded": encoded.content,
        "image/format": encoded.image_format.encode(),
        "image/height": encoded.height,
        "image/width": encoded.width,
        "image/class/label": picture.label,
        "image/class/text": os.fsencode(class_name),
        "image/filename": os.fsencode(picture.filename),
    }
    features = tf.train.Features(feature={key: _feature(value) for key, value in values.items()})
    # The features are a map, which has another order in each process.
    return bytes(tf.train.Example(features=features).SerializeToString(deterministic=True))


def name_and_label(record: bytes) -> tuple[str, int]:
    """The file name and the label of a serialized example.

    Raises:
      ValueError: the record was not made by `serialize`.
    """
    try:
        features = tf.train.Example.FromString(record).features.feature
        filename = features["image/filename"].bytes_list.value[0]
        return os.fsdecode(filename), features["image/class/label"].int64_list.value[0]
    except (IndexError, DecodeError) as error:
        raise ValueError("it is no example with a file name and a label") from error


def _png(pixels: Any) -> Encoded:
    height, width, _ = pixels.shape
    return Encoded(tf.io.encode_png(pixels).numpy(), "png", height, width)


def _format_of(content: bytes) -> str | None:
    found = [name for magic, name in _MAGIC_TO_FORMAT.items() if re.match(magic, content, re.S)]
    return found[0] if found else None


def _reason(error: Exception) -> str:
    """Returns the message of an op, without the place where it ran."""
    return reason_of(error).rpartition("}} ")[2].partition(" [Op:")[0]


def _feature(value: Any) -> Any:
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
