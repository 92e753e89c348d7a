"""Decodes images in an input pipeline as `pixels.load_pixels` does.

TensorFlow decodes JPEG and PNG files, which are nearly all. Python with Pillow reads the headers of
files with EXIF or XMP data, and decodes the other formats. An exported model has no Python; see
`export_decoding`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_vision.reading.image_header import MOST_PIXELS_PER_BYTE, ImageError, open_image
from tf_frame_vision.reading.image_options import ImageOptions, image_options
from tf_frame_vision.reading.pixels import load_pixels
from tf_frame_vision.reading.turning import JPEG_EXIF, PNG_EXIF, PNG_TEXTS, XMP, lacks, turned

_SHAPE = [None, None, 3]
_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
# Texts of a PNG stand before the pixels or behind them.
_TEXT_BYTES = 2**16


def image_decoders(options: Any = None) -> list[Callable[[Any], tuple[Any, Any]]]:
    """Returns functions that decode an image as other programs show it, the quickest first.

    Each is for a data set of one: where it cannot decode an image, it fails, and the next one is to
    be tried. The last one does not fail. One function for all images would cost twice the time
    for most of them, as each data set builds its functions anew. See `pixels` for formats,
    orientation, transparency and depth.

    Args:
      options: `ImageOptions`; the defaults for anything else, such as parameters without them.

    Returns:
      Functions from a scalar string, the content of a file, to `[height, width, 3]` uint8 and why
      the image cannot be used, a scalar string, empty if it can.
    """
    chosen = image_options(options)
    return [
        lambda data: (_decode_upright_jpeg(data, chosen), tf.constant("")),
        lambda data: (_decode_upright_png(data, chosen), tf.constant("")),
        lambda data: (_decode_with_header(data, chosen), tf.constant("")),
        lambda data: _load(data, chosen),
    ]


def decode_jpeg_or_png(data: Any) -> Any:
    """Decodes an image as stored, `[height, width, 3]`, with the values that Pillow gives."""
    # The kernel decodes PNG files, too. Its default method of JPEG gives other values.
    return tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE")


def fits(height: Any, width: Any, max_pixels: int, num_bytes: Any) -> Any:
    """Returns whether an image has not too many pixels, in all and for its bytes.

    Args:
      height, width: scalar integers.
      max_pixels: the most pixels.
      num_bytes: scalar integer, size of the file; see `image_header.MOST_PIXELS_PER_BYTE`.
    """
    # A product of integers could overflow.
    pixels = tf.cast(height, tf.float64) * tf.cast(width, tf.float64)
    most = MOST_PIXELS_PER_BYTE * tf.cast(num_bytes, tf.float64)
    return pixels <= tf.minimum(most, max_pixels)


def require(is_right: Any, reason: Any) -> Any:
    """Returns an operation that fails with a reason if something is not right."""
    # tf.Assert would add a branch to the graph.
    return tf.raw_ops.Assert(condition=is_right, data=[reason])


def _decode_upright_jpeg(data: Any, options: ImageOptions) -> Any:
    data = _if_begins(data, _JPEG)
    with tf.control_dependencies([_assert(lacks(data, [JPEG_EXIF, XMP]))]):
        size = tf.io.extract_jpeg_shape(data)
    # Colours of four components are for print.
    is_small = fits(size[0], size[1], options.max_pixels, tf.strings.length(data))
    with tf.control_dependencies([_assert((size[2] < 4) & is_small)]):
        return decode_jpeg_or_png(tf.identity(data))


def _decode_upright_png(data: Any, options: ImageOptions) -> Any:
    data = _if_begins(data, _PNG)
    behind = tf.maximum(tf.strings.length(data) - _TEXT_BYTES, 0)
    ends = tf.stack([tf.strings.substr(data, place, _TEXT_BYTES) for place in (0, behind)])
    is_upright = lacks(data, [PNG_EXIF]) & lacks(ends, PNG_TEXTS)
    with tf.control_dependencies([_assert(is_upright)]):
        header = tf.strings.substr(data, 16, 9)
    size = tf.strings.substr(header, 0, 8)
    width, height = tf.unstack(tf.io.decode_raw(size, tf.int32, little_endian=False), 2)
    is_right = fits(height, width, options.max_pixels, tf.strings.length(data))
    if options.image_range:
        is_right &= tf.not_equal(tf.strings.substr(header, 8, 1), b"\x10")
    with tf.control_dependencies([_assert(is_right)]):
        return decode_jpeg_or_png(tf.identity(data))


def _if_begins(data: Any, magic: bytes) -> Any:
    """Returns the data; the operation fails if they begin with other bytes."""
    head = tf.strings.substr(data, 0, len(magic))
    with tf.control_dependencies([_assert(tf.equal(head, magic))]):
        return tf.identity(data)


def _assert(is_right: Any) -> Any:
    return require(is_right, "another decoder is for this image")


def _decode_with_header(data: Any, options: ImageOptions) -> Any:
    """Decodes a JPEG or PNG with TensorFlow that has an orientation, or may have one."""

    def read(content: bytes) -> Any:
        """Returns the orientation, and 0 for an image that is for Pillow."""
        is_common = content.startswith((_JPEG, _PNG))
        try:
            with open_image(content if is_common else b"", max_pixels=options.max_pixels) as opened:
                image, header = opened
        except ImageError:
            return np.int32(0)
        is_deep = bool(options.image_range) and image.mode not in ("1", "L", "LA", "P")
        is_other = image.mode == "CMYK" or (header.format == "PNG" and is_deep)
        return np.int32(0 if is_other else header.orientation)

    # Without a state, so that a position in the input can be saved.
    orientation = tf.ensure_shape(tf.numpy_function(read, [data], tf.int32, stateful=False), [])
    with tf.control_dependencies([_assert(orientation > 0)]):
        return turned(decode_jpeg_or_png(tf.identity(data)), orientation)


def _load(data: Any, options: ImageOptions) -> tuple[Any, Any]:
    """Returns pixels and an empty text, or the reason why there are none."""

    def load(content: bytes) -> tuple[Any, bytes]:
        try:
            image = load_pixels(
                content, max_pixels=options.max_pixels, image_range=options.image_range
            )
        except ImageError as error:
            return np.zeros([1, 1, 3], np.uint8), str(error).encode()
        return image, b""

    image, reason = tf.numpy_function(load, [data], (tf.uint8, tf.string), stateful=False)
    return tf.ensure_shape(image, _SHAPE), tf.ensure_shape(reason, [])
