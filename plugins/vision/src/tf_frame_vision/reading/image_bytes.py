"""Reads the header of an encoded image by operations of a graph; see `export_decoding`.

`image_header` reads the same with Pillow. Places of the fields are from ITU-T T.81 and the EXIF
standard (JPEG), the PNG specification, RFC 9649 (WebP) and the headers of BMP and GIF.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.reading.orientation import UPRIGHT

JPEG, PNG, GIF, BMP, WEBP, OTHER = range(6)
_HEAD_BYTES = 34
_MAGIC = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"BM", b"RIFF")
# Begins the EXIF data of a JPEG, behind the marker and the length of a segment.
_EXIF_IN_JPEG, _APP1 = b"Exif\0\0", b"\xff\xe1"
_ORIENTATION = 0x0112
# Flags of WebP files.
_EXIF, _ALPHA = 0x08, 0x10
_LOSSLESS_ALPHA = 1 << 28


@dataclasses.dataclass(frozen=True)
class BytesHeader:
    """Scalar tensors with facts about an encoded image.

    Attributes:
      kind: int64, a format of this module.
      height, width: int64, in pixels, as stored; 0 for formats that TensorFlow lacks.
      orientation: int64, of EXIF, 1 to 8.
      bits: int64, of a colour of a PNG, or of a pixel of a BMP; of other formats 8.
      has_alpha: bool, whether the image is a WebP with transparency.
    """

    kind: Any
    height: Any
    width: Any
    orientation: Any
    bits: Any
    has_alpha: Any


def read_bytes_header(data: Any) -> BytesHeader:
    """Reads the header of an image.

    Args:
      data: scalar string, the content of a file.

    Raises:
      tf.errors.InvalidArgumentError: at run time: the header of a JPEG is damaged.
    """
    head = tf.strings.substr(data, 0, _HEAD_BYTES)
    sizes = list(map(len, _MAGIC))
    is_kind = tf.equal(
        tf.strings.substr(tf.fill([len(_MAGIC)], head), [0] * len(_MAGIC), sizes), _MAGIC
    )
    kind = tf.argmax(tf.concat([is_kind, [True]], 0), output_type=tf.int32)
    head = _part(tf.io.decode_raw(head, tf.uint8), 0, _HEAD_BYTES)
    branches: list[Callable[[], Any]] = [
        lambda: _jpeg(data),
        lambda: _png(data, head),
        lambda: _facts(_number(head, 8, 2), _number(head, 6, 2)),
        lambda: _bmp(head),
        lambda: _webp(data, head),
        lambda: _facts(0, 0),
    ]
    facts = tf.switch_case(kind, branches)
    height, width, orientation, bits, has_alpha = tf.unstack(facts)
    return BytesHeader(kind, height, width, orientation, bits, tf.equal(has_alpha, 1))


def _facts(
    height: Any, width: Any, orientation: Any = UPRIGHT, bits: Any = 8, has_alpha: Any = False
) -> Any:
    values = (height, width, orientation, bits, has_alpha)
    return tf.stack([tf.cast(value, tf.int64) for value in values])


def _jpeg(data: Any) -> Any:
    size = tf.io.extract_jpeg_shape(data)
    # A split is many times faster than a loop or a regular expression.
    parts = tf.strings.split([data], _EXIF_IN_JPEG).values
    is_segment = tf.equal(tf.strings.substr(parts[0], -4, 2), _APP1)
    orientation = tf.cond(
        tf.greater(tf.size(parts), 1) & is_segment,
        lambda: _orientation(tf.io.decode_raw(parts[1], tf.uint8)),
        lambda: tf.constant(UPRIGHT, tf.int64),
    )
    return _facts(size[0], size[1], orientation)


def _png(data: Any, head: Any) -> Any:
    has_exif = tf.greater(tf.size(tf.strings.split([data], b"eXIf").values), 1)
    orientation = tf.cond(
        has_exif,
        lambda: _orientation_in_chunk(data, 8, b"eXIf", size_first=True),
        lambda: tf.constant(UPRIGHT, tf.int64),
    )
    height, width = _number(head, 20, 4, big=True), _number(head, 16, 4, big=True)
    return _facts(height, width, orientation, bits=_number(head, 24, 1))


def _bmp(head: Any) -> Any:
    height, width = (_number(head, place, 4) for place in (22, 18))
    # Rows may be stored from the top, with a negative height.
    height = tf.minimum(height, 2**32 - height)
    return _facts(height, width, bits=_number(head, 28, 2))


def _webp(data: Any, head: Any) -> Any:
    kind, flags = _number(head, 12, 4), _number(head, 20, 1)
    is_extended = tf.equal(kind, int.from_bytes(b"VP8X", "little"))
    is_lossless = tf.equal(kind, int.from_bytes(b"VP8L", "little"))
    bits = _number(head, 21, 4)
    height, width = (_number(head, place, 2) & 0x3FFF for place in (28, 26))
    height = tf.where(is_lossless, 1 + ((bits // 2**14) & 0x3FFF), height)
    width = tf.where(is_lossless, 1 + (bits & 0x3FFF), width)
    height = tf.where(is_extended, 1 + _number(head, 27, 3), height)
    width = tf.where(is_extended, 1 + _number(head, 24, 3), width)

    def has(flag: int) -> Any:
        return is_extended & tf.not_equal(flags & flag, 0)

    orientation = tf.cond(
        has(_EXIF),
        lambda: _orientation_in_chunk(data, 12, b"EXIF", size_first=False),
        lambda: tf.constant(UPRIGHT, tf.int64),
    )
    has_alpha = has(_ALPHA) | (is_lossless & tf.not_equal(bits & _LOSSLESS_ALPHA, 0))
    return _facts(height, width, orientation, has_alpha=has_alpha)


def _orientation_in_chunk(data: Any, first: int, name: bytes, *, size_first: bool) -> Any:
    """Returns the orientation in the first chunk of a name, of a PNG or WebP file."""
    raw = tf.io.decode_raw(data, tf.uint8)
    count = tf.size(raw, out_type=tf.int64)
    name_place, size_place = (4, 0) if size_first else (0, 4)

    def is_other(place: Any, begin: Any, end: Any) -> Any:
        return tf.less(place, count) & tf.equal(begin, 0)

    def step(place: Any, begin: Any, end: Any) -> Any:
        size = _number(raw, place + size_place, 4, big=size_first)
        is_wanted = _starts(_part(raw, place + name_place, 4), name)
        # A checksum follows in a PNG, a WebP file is filled to an even size.
        following = place + 8 + (size + 4 if size_first else size + size % 2)
        return (
            following,
            tf.where(is_wanted, place + 8, begin),
            tf.where(is_wanted, place + 8 + size, end),
        )

    zero = tf.constant(0, tf.int64)
    begin = [zero + first, zero, zero]
    _, begin, end = tf.while_loop(is_other, step, begin, parallel_iterations=1)
    return _orientation(raw[begin:end])


def _orientation(raw: Any) -> Any:
    """Returns the orientation in EXIF data, 1 without a valid one; see EXIF 2.3, section 4.6."""
    # Within a WebP file the data may begin as in a JPEG.
    raw = tf.cond(_starts(_part(raw, 0, 6), b"Exif\0\0"), lambda: raw[6:], lambda: raw)
    is_big = tf.equal(_part(raw, 0, 1)[0], ord("M"))

    def number(values: Any, place: Any, size: int) -> Any:
        part = values[..., place : place + size]
        return tf.reduce_sum(part * tf.where(is_big, _weights(size, big=True), _weights(size)), -1)

    directory = number(_part(raw, 4, 4), 0, 4)
    count = number(_part(raw, directory, 2), 0, 2)
    entries = tf.cast(raw[directory + 2 :][: 12 * count], tf.int64)
    entries = tf.reshape(entries[: tf.size(entries) // 12 * 12], [-1, 12])
    entries = tf.boolean_mask(entries, tf.equal(number(entries, 0, 2), _ORIENTATION))
    entry = tf.concat([tf.zeros([1, 12], tf.int64), entries], 0)[-1]
    kind = number(entry, 2, 2)
    value = tf.where(tf.equal(kind, 4), number(entry, 8, 4), number(entry, 8, 2))
    value = tf.where(tf.equal(kind, 1), entry[8], value)
    is_one = tf.equal(number(entry, 4, 4), 1) & tf.reduce_any(tf.equal(kind, [1, 3, 4]))
    is_valid = is_one & (value >= 1) & (value <= 8)
    return tf.where(is_valid, value, tf.ones_like(value) * UPRIGHT)


def _part(raw: Any, place: Any, size: int) -> Any:
    """Returns bytes as int64, zeros behind the end."""
    part = raw[place : place + size]
    return tf.cast(tf.reshape(tf.pad(part, [[0, size - tf.size(part)]]), [size]), tf.int64)


def _number(raw: Any, place: Any, size: int, *, big: bool = False) -> Any:
    """Returns an unsigned integer of `size` bytes."""
    return tf.reduce_sum(_part(raw, place, size) * _weights(size, big=big))


def _weights(size: int, *, big: bool = False) -> Any:
    weights = [256**index for index in range(size)]
    return tf.constant(weights[::-1] if big else weights, tf.int64)


def _starts(head: Any, magic: bytes) -> Any:
    return tf.reduce_all(tf.equal(tf.cast(head[: len(magic)], tf.int64), list(magic)))
