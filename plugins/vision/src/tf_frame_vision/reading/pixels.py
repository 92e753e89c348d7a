"""Pixels of an image file as other programs show them, by Pillow.

An image is turned as its EXIF orientation says. Of several frames the first counts. Transparency
is left out: a transparent pixel has the colour that the file gives it. Values of more than 8 bits
are scaled by their depth, or by a range. `examples.decode_image` decodes the same in a graph.

Does not import TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame_vision.reading.image_header import MAX_PIXELS, ImageError, Source, open_image
from tf_frame_vision.reading.orientation import UPRIGHT, turn_pixels

# Pillow's modes of one number of more than 8 bits.
_DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")
_BITS_PER_SAMPLE = 258
# Pillow spreads grey values of few bits up to 255.
_FEW_BITS = {"L;2": 85, "L;4": 17}


def load_pixels(
    source: Source, *, max_pixels: int = MAX_PIXELS, image_range: Sequence[float] = ()
) -> Any:
    """Returns the pixels of an image, `[height, width, 3]` uint8.

    Args:
      source: path of a file, or its content.
      max_pixels: see `image_header.read_header`.
      image_range: the values that become 0 and 255, of images of more than 8 bits; empty: all
        values of their depth.

    Raises:
      ImageError: the image cannot be used.
    """
    with open_image(source, max_pixels=max_pixels) as (image, header):
        pixels = _load(image, image_range)
        # Pillow turns TIFF files itself.
        return turn_pixels(pixels, UPRIGHT if header.format == "TIFF" else header.orientation)


def load_mask(source: Source, *, max_pixels: int = MAX_PIXELS) -> Any:
    """Returns the values of a mask, `[height, width]` int32, turned as its own EXIF data says.

    A value is a grey value of any depth as stored, an index of a palette, or a colour `0xRRGGBB`.

    Raises:
      ImageError: the mask cannot be used.
    """
    with open_image(source, max_pixels=max_pixels) as (image, header):
        is_few = image.format == "PNG" and image.tile and image.tile[0][3] in _FEW_BITS
        divisor = _FEW_BITS[image.tile[0][3]] if is_few else 1
        image.load()
        if image.mode in ("1", "L", "P", "LA", "PA", *_DEEP):
            values = np.asarray(image)
            values = (values[..., 0] if values.ndim == 3 else values).astype(np.int32) // divisor
        else:
            red, green, blue = np.moveaxis(_load(image, ()).astype(np.int32), -1, 0)
            values = red << 16 | green << 8 | blue
        return turn_pixels(values, UPRIGHT if header.format == "TIFF" else header.orientation)


def _load(image: Any, image_range: Sequence[float]) -> Any:
    if image.mode in _DEEP:
        values = _scaled(_numbers(image), image_range)
        return np.repeat(values[..., np.newaxis], 3, axis=-1)
    image.load()
    image.info.pop("transparency", None)
    if image.mode in ("RGBa", "La"):
        image = image.convert("RGBA" if image.mode == "RGBa" else "LA")
    return np.asarray(image.convert("RGB"))


def _numbers(image: Any) -> Any:
    """Returns the values of an image of one number a pixel, `[height, width]`."""
    image.load()
    values = np.asarray(image)
    if image.mode == "I" and image.format == "PNG":  # Pillow before version 11.3
        values = values.astype(np.uint16)
    if image.format == "TIFF" and values.dtype.itemsize == 2:
        (bits,) = image.tag_v2.get(_BITS_PER_SAMPLE, (16,))
        values = values << (16 - bits)
    return values


def _scaled(values: Any, image_range: Sequence[float]) -> Any:
    if image_range:
        low, high = image_range
        scaled = (np.asarray(values, np.float32) - low) * (255 / (high - low))
        return np.rint(np.nan_to_num(scaled).clip(0, 255)).astype(np.uint8)
    if values.dtype.itemsize != 2:
        raise ImageError(
            f"its values of type {values.dtype} have no range; say it: --input.image_range LOW,HIGH"
        )
    return (values >> 8).astype(np.uint8)
