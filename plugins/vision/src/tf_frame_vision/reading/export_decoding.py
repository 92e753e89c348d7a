"""Decodes images in an exported model, which has no Python: by operations, as far as they can."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.reading.decoding import decode_jpeg_or_png, fits, require
from tf_frame_vision.reading.image_bytes import (
    BMP,
    JPEG,
    OTHER,
    PNG,
    BytesHeader,
    read_bytes_header,
)
from tf_frame_vision.reading.image_options import image_options
from tf_frame_vision.reading.turning import turned

ACCEPTED = (
    "image files, as bytes: JPEG, PNG, BMP of 24 or 32 bits, GIF (first frame) or still WebP, "
    "turned as EXIF says. Other than in training: no TIFF, no PPM, no other BMP, no "
    "orientation of XMP or of a text in a PNG; CMYK and transparent pixels of a GIF may have "
    "other colours"
)


def decode_in_export(data: Any, options: Any = None) -> Any:
    """Decodes an image by operations alone, `[height, width, 3]` uint8; see `ACCEPTED`.

    Args:
      data: scalar string, the content of a file.
      options: see `decoding.image_decoders`.
    """
    options = image_options(options)
    header = read_bytes_header(data)
    # TensorFlow would take the indices of a palette for grey values.
    is_right = tf.not_equal(header.kind, BMP) | (header.bits >= 24)
    checks = [
        # TensorFlow knows further formats; their size is not known before they are decoded.
        require(tf.not_equal(header.kind, OTHER), "it is no JPEG, PNG, GIF, BMP or WebP"),
        require(is_right, "it is a BMP of fewer than 24 bits a pixel"),
        _check_size(data, header, options.max_pixels),
    ]
    with tf.control_dependencies(checks):
        data = tf.identity(data)
    is_common = tf.equal(header.kind, JPEG) | tf.equal(header.kind, PNG)
    image = tf.cond(
        is_common,
        lambda: _common(data, header, options.image_range),
        # Of a WebP with transparency TensorFlow gives four channels only.
        lambda: tf.cond(header.has_alpha, lambda: _other(data, 4), lambda: _other(data, 3)),
    )
    return turned(tf.ensure_shape(image, [None, None, 3]), header.orientation)


def _check_size(data: Any, header: BytesHeader, max_pixels: int) -> Any:
    # A WebP of one colour needs no bytes for its pixels.
    num_bytes = tf.where(header.kind <= BMP, tf.strings.length(data), max_pixels)
    size = [tf.strings.as_string(header.height), " x ", tf.strings.as_string(header.width)]
    text = f" pixels, more than {max_pixels} (--input.max_pixels), or than its bytes can be"
    is_right = fits(header.height, header.width, max_pixels, num_bytes)
    return require(is_right, tf.strings.join(["it is ", *size, text]))


def _common(data: Any, header: BytesHeader, image_range: Any) -> Any:
    if not image_range:
        return decode_jpeg_or_png(data)

    def decode_deep() -> Any:
        low, high = image_range
        values = tf.cast(tf.io.decode_png(data, channels=3, dtype=tf.uint16), tf.float32)
        return tf.saturate_cast(tf.rint((values - low) * (255 / (high - low))), tf.uint8)

    return tf.cond(header.bits > 8, decode_deep, lambda: decode_jpeg_or_png(data))


def _other(data: Any, channels: int) -> Any:
    return tf.io.decode_image(data, channels=channels, expand_animations=False)[..., :3]
