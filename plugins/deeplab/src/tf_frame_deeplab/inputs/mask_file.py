"""Pairs of an image file and a mask file, checked without TensorFlow before a run starts.

A mask is a PNG with a class as each pixel: grey values, indices of a palette, or colours of
`classes.txt`. A run reports a wrong mask at its start, with the name of the file, not at the step
that reads it.
"""

from __future__ import annotations

import dataclasses
import struct
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_frame_deeplab.inputs.classes import Classes
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.image_header import ImageError, ImageHeader, open_image, read_header
from tf_frame_vision.reading.image_options import MAX_PIXELS
from tf_frame_vision.reading.orientation import UPRIGHT
from tf_frame_vision.reading.pixels import load_mask

# Key of the mask in records.
MASK = "image/segmentation/class/encoded"
GREY, PALETTE, COLOUR = "grey", "palette", "colour"
# Colour types of the PNG specification, section 11.2.2.
_KINDS = {0: GREY, 2: COLOUR, 3: PALETTE, 4: GREY, 6: COLOUR}
_ONLY_PNG = "masks must be PNG files, as others change the values of pixels"
# Signature, length, "IHDR", 13 bytes, checksum.
HEADER_BYTES = 33
_FEW_VALUES = 1 << 16


@dataclasses.dataclass(frozen=True)
class Pair:
    """An image and its mask.

    Attributes:
      name: name of both without ending.
      image, mask: the files.
    """

    name: str
    image: Path
    mask: Path


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts about a pair that need no pixels.

    Attributes:
      height, width: of the image as shown, in pixels.
      kind: kind of the mask's pixels: grey value, index of a palette, or colour.
      bits: bits of a pixel of the mask, or of each of its colours.
      as_grey: for a palette, the checksum of the header of a grey mask with the same pixels.
      turn: orientation of EXIF that turns the stored pixels of the mask to the image as shown.
      counts: class, or label of pixels that do not count -> number of pixels; None: the mask was
        not decoded.
    """

    height: int
    width: int
    kind: str
    bits: int
    as_grey: bytes = b"\0\0\0\0"
    turn: int = UPRIGHT
    counts: Mapping[int, int] | None = None


class DamagedPairError(Exception):
    """A pair that cannot be used, for the reason in a `Damage`."""


def _damaged_mask(pair: Pair, clause: str) -> DamagedPairError:
    return DamagedPairError(Damage.of_file(pair.mask, clause, f"a mask {clause}"))


def examine(pair: Pair, *, max_pixels: int = MAX_PIXELS) -> Facts:
    """Reads the headers of both files, and compares the sizes as shown.

    A mask of the image's stored size, which its EXIF orientation exchanges, was drawn on the stored
    pixels, and is turned with them.

    Args:
      max_pixels: see `tf_frame_vision.reading.image_header.read_header`.

    Raises:
      DamagedPairError: a file is no image or no PNG, is too large, or the sizes differ.
    """
    image = _read_header(pair.image, max_pixels)
    mask = _read_header(pair.mask, max_pixels)
    if mask.format != "PNG":
        raise _damaged_mask(pair, f"is no PNG; {_ONLY_PNG}")
    turn = mask.orientation
    if (mask.height, mask.width) != (image.height, image.width):
        if (mask.height, mask.width) != (image.stored_height, image.stored_width):
            sizes = mask.height, mask.width, image.height, image.width
            clause = "is {} x {} pixels, but its image {} x {}".format(*sizes)
            raise _damaged_mask(pair, clause)
        if turn != UPRIGHT:
            clause = (
                f"and its image have EXIF orientations, {turn} and {image.orientation}, that make "
                "their sizes differ; remove that of the mask"
            )
            raise _damaged_mask(pair, clause)
        turn = image.orientation
    return _mask_facts(pair.mask, image, turn)


def _read_header(path: Path, max_pixels: int) -> ImageHeader:
    try:
        return read_header(path, max_pixels=max_pixels)
    except ImageError as error:
        raise DamagedPairError(Damage(str(path), str(error))) from None


def _mask_facts(path: Path, image: ImageHeader, turn: int) -> Facts:
    with open(path, "rb") as file:
        head = file.read(HEADER_BYTES)
    bits, colour_type = struct.unpack(">BB", head[24:26])
    grey = head[12:25] + b"\0" + head[26:29]
    checksum = struct.pack(">I", zlib.crc32(grey))
    return Facts(image.height, image.width, _KINDS[colour_type], bits, checksum, turn)


def check_pixels(
    pair: Pair, facts: Facts, classes: Classes, ignore_label: int, *, with_image: bool = True
) -> Mapping[int, int]:
    """Decodes both files, or the mask alone, and looks for values that are no class.

    Returns:
      Class, or label of pixels that do not count -> number of pixels.

    Raises:
      DamagedPairError: a file cannot be decoded, or a pixel of the mask has no class.
    """
    if with_image:
        _check_image(pair.image)
    allowed = {*range(len(classes.names)), ignore_label}
    values = count_values(mask_values(pair.mask, facts))
    if facts.kind != COLOUR:
        unknown = sorted(values.keys() - allowed)
        fault = (
            f"has the value {unknown[0]}; classes are 0 to {len(classes.names) - 1}, and "
            f"{ignore_label} is ignored (--input.ignore_label)"
            if unknown
            else ""
        )
    elif not classes.colours:
        fault = (
            "is in colour, but the classes have no colours; write them in the file of the "
            "classes, such as 'nucleus 200 30 30', or save the mask as grey values or with a "
            "palette"
        )
    else:
        unknown = sorted(values.keys() - classes.colours.keys())
        fault = f"has {describe_colour(unknown[0])}, which no class has" if unknown else ""
        values = {classes.colours.get(code, code): count for code, count in values.items()}
    if fault:
        raise _damaged_mask(pair, fault)
    return values


def count_values(mask: NDArray[np.integer[Any]]) -> dict[int, int]:
    """Returns the number of pixels of each value of a mask."""
    if mask.size and mask.min() >= 0 and mask.max() < _FEW_VALUES:
        # Counting takes a tenth of the time of sorting.
        counts = np.bincount(mask.ravel())
        unique = np.flatnonzero(counts)
        return dict(zip(unique.tolist(), counts[unique].tolist(), strict=True))
    unique, counts = np.unique(mask, return_counts=True)
    return dict(zip(unique.tolist(), counts.tolist(), strict=True))


def _check_image(path: Path) -> None:
    try:
        with open_image(path, max_pixels=sys.maxsize) as (image, _):
            image.load()
    except ImageError as error:
        raise DamagedPairError(Damage(str(path), str(error))) from None


def mask_values(path: Path, facts: Facts) -> NDArray[np.int32]:
    """Returns grey values, indices of a palette, or colours `0xRRGGBB`: `[height, width]`.

    They are turned to the image as shown.

    Raises:
      DamagedPairError: the mask cannot be decoded.
    """
    try:
        # The limit of pixels was checked with the header.
        values: NDArray[np.int32] = load_mask(path, max_pixels=sys.maxsize, orientation=facts.turn)
    except ImageError as error:
        raise DamagedPairError(Damage(str(path), str(error))) from None
    return values


def describe_colour(code: int) -> str:
    """Describes a colour `0xRRGGBB`."""
    return f"the colour {code >> 16} {code >> 8 & 255} {code & 255}"
