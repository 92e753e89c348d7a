"""Pixels of an image file as other programs show them, by Pillow.

An image is turned as its EXIF orientation says. Of several frames the first counts. Transparency
is left out: a transparent pixel has the colour that the file gives it. Values of more than 8 bits
are scaled by their depth, or by a range. `decoding` decodes the same in a graph.

Does not import TensorFlow.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame_vision.reading.image_header import ImageError, Source, open_image
from tf_frame_vision.reading.image_options import MAX_PIXELS
from tf_frame_vision.reading.orientation import UPRIGHT, turn_pixels

# Pillow's modes of one number of more than 8 bits.
_DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")
_BITS_PER_SAMPLE = 258
_DEEP_COLOUR = re.compile(r"(RGB[AXa]?|LA);16([BLN])$")
_GREY_AND_ALPHA = "LA;16B"
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
        if image_range and image.tile and _DEEP_COLOUR.match(raw_mode(image.tile[0])):
            pixels = _scaled(_deep_colours(image, source, max_pixels), image_range)
        else:
            pixels = _load(image, image_range)
        # Pillow turns TIFF files itself.
        return turn_pixels(pixels, UPRIGHT if header.format == "TIFF" else header.orientation)


def load_mask(
    source: Source, *, max_pixels: int = MAX_PIXELS, orientation: int | None = None
) -> Any:
    """Returns the values of a mask, `[height, width]` int32, turned as it is shown.

    A value is a grey value of any depth as stored, an index of a palette, or a colour `0xRRGGBB`.

    Args:
      source: path of a file, or its content.
      max_pixels: see `image_header.read_header`.
      orientation: how to turn the stored mask; None: as its own EXIF data says.

    Raises:
      ImageError: the mask cannot be used.
    """
    with open_image(source, max_pixels=max_pixels) as (image, header):
        kind = raw_mode(image.tile[0]) if image.tile else ""
        if kind == _GREY_AND_ALPHA:
            values = _deep_colours(image, source, max_pixels)[..., 0]
        elif image.mode in ("1", "L", "P", "LA", "PA", *_DEEP):
            image.load()
            values = np.asarray(image)
            values = values[..., 0] if values.ndim == 3 else values
        else:
            colours = _load(image, ())
            # In place, as a mask may have a hundred megapixels.
            values = colours[..., 0].astype(np.int32)
            for channel in (1, 2):
                values <<= 8
                values |= colours[..., channel]
        values = values.astype(np.int32, copy=False)
        if kind in _FEW_BITS:
            values = values // _FEW_BITS[kind]
        if orientation is None:
            orientation = UPRIGHT if header.format == "TIFF" else header.orientation
        return turn_pixels(values, orientation)


def _deep_colours(image: Any, source: Source, max_pixels: int) -> Any:
    """Returns colours of 16 bits each, `[height, width, 3]`.

    Pillow decodes the upper bytes only; in the other order of bytes these are the lower ones.
    """
    if raw_mode(image.tile[0]) == _GREY_AND_ALPHA:
        image.tile = [_with_raw_mode(part, "RGBA") for part in image.tile]
        grey = np.asarray(image).astype(np.uint16) @ np.array([256, 1, 0, 0], np.uint16)
        return np.repeat(grey[..., np.newaxis], 3, axis=-1)
    with open_image(source, max_pixels=max_pixels) as (lower, _):
        lower.tile = [
            _with_raw_mode(part, _DEEP_COLOUR.sub(_other_bytes, raw_mode(part)))
            for part in lower.tile
        ]
        lower_bytes = np.asarray(lower)[..., :3].astype(np.uint16)
    return np.asarray(image)[..., :3].astype(np.uint16) << 8 | lower_bytes


def _other_bytes(order: re.Match[str]) -> str:
    is_big = order[2] == "B" or (order[2] == "N" and sys.byteorder == "big")
    return f"{order[1]};16{'L' if is_big else 'B'}"


def raw_mode(part: Any) -> str:
    """Returns the order of bits and bytes that Pillow expects in a part of a file."""
    arguments = part[3]
    return str(arguments[0] if isinstance(arguments, tuple) else arguments)


def _with_raw_mode(part: Any, new_mode: str) -> Any:
    *place, arguments = part
    is_one = not isinstance(arguments, tuple)
    new = new_mode if is_one else (new_mode, *arguments[1:])
    return type(part)(*place, new) if hasattr(part, "_replace") else (*place, new)


def _load(image: Any, image_range: Sequence[float]) -> Any:
    if image.mode in _DEEP:
        values = _scaled(_numbers(image), image_range)
        return np.repeat(values[..., np.newaxis], 3, axis=-1)
    image.load()
    image.info.pop("transparency", None)
    if image.mode in ("RGBa", "La"):
        image = image.convert("RGBA" if image.mode == "RGBa" else "LA")
    # Converting would copy all pixels.
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def _numbers(image: Any) -> Any:
    """Returns the values of an image of one number a pixel, `[height, width]`."""
    image.load()
    values = np.asarray(image)
    if image.mode == "I" and image.format in ("PNG", "PPM"):
        # Pillow gives 16 bits in 32, of PNG files before version 11.3.
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
