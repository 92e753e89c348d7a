"""Pairs of an image file and a mask file, checked without TensorFlow before a run starts.

A mask is a PNG with a class as each pixel: grey values, indices of a palette, or colours of
`classes.txt`. A run reports a wrong mask at its start, with the name of the file, not at the step
that reads it.
"""

from __future__ import annotations

import dataclasses
import struct
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from tf_frame_deeplab.inputs.classes import Classes

GREY, PALETTE, COLOUR = "grey", "palette", "colour"
# Colour types of the PNG specification, section 11.2.2.
_KINDS = {0: GREY, 2: COLOUR, 3: PALETTE, 4: GREY, 6: COLOUR}
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Signature, length, "IHDR", 13 bytes, checksum.
HEADER_BYTES = 33
_UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)


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
      height, width: of the image, in pixels.
      kind: kind of the mask's pixels: grey value, index of a palette, or colour.
      bits: bits of a pixel of the mask, or of each of its colours.
      as_grey: for a palette, the checksum of the header of a grey mask with the same pixels.
      counts: class, or label of pixels that do not count -> number of pixels; None: the mask was
        not decoded.
    """

    height: int
    width: int
    kind: str
    bits: int
    as_grey: bytes = b"\0\0\0\0"
    counts: Mapping[int, int] | None = None


class DamagedPairError(Exception):
    """A pair that cannot be used; the message names the file and says why."""


def examine(pair: Pair) -> Facts:
    """Reads the headers of both files, and compares the sizes.

    Raises:
      DamagedPairError: a file is no image or no PNG, or the sizes differ.
    """
    try:
        with Image.open(pair.image) as image:
            width, height = image.size
    except _UNREADABLE as error:
        raise DamagedPairError(f"{pair.image} cannot be read: {_reason(error)}") from None
    facts = _mask_facts(pair.mask)
    if (facts.height, facts.width) != (height, width):
        raise DamagedPairError(
            f"{pair.mask} is {facts.height} x {facts.width} pixels, "
            f"but its image {height} x {width}"
        )
    return facts


def _mask_facts(path: Path) -> Facts:
    try:
        with open(path, "rb") as file:
            head = file.read(HEADER_BYTES)
    except OSError as error:
        raise DamagedPairError(f"{path} cannot be read: {error.strerror}") from None
    if len(head) < HEADER_BYTES or not head.startswith(_SIGNATURE):
        raise DamagedPairError(
            f"{path} is no PNG; masks must be PNG files, as others change the values of pixels"
        )
    width, height, bits, colour_type = struct.unpack(">IIBB", head[16:26])
    if colour_type not in _KINDS:
        raise DamagedPairError(f"{path} is damaged: there is no colour type {colour_type}")
    grey = head[12:25] + b"\0" + head[26:29]
    checksum = struct.pack(">I", zlib.crc32(grey))
    return Facts(height, width, _KINDS[colour_type], bits, checksum)


def check_pixels(
    pair: Pair, facts: Facts, classes: Classes, ignore_label: int
) -> Mapping[int, int]:
    """Decodes both files, and looks for values that are no class.

    Returns:
      Class, or label of pixels that do not count -> number of pixels.

    Raises:
      DamagedPairError: a file cannot be decoded, or a pixel of the mask has no class.
    """
    decoded(pair.image)
    allowed = {*range(len(classes.names)), ignore_label}
    unique, pixels = np.unique(pixel_values(decoded(pair.mask), facts), return_counts=True)
    values = dict(zip(unique.tolist(), pixels.tolist(), strict=True))
    if facts.kind != COLOUR:
        check_values(str(pair.mask), values, allowed, len(classes.names), ignore_label)
        return values
    if not classes.colours:
        raise DamagedPairError(
            f"{pair.mask} is in colour, but the classes have no colours; write them in the file of"
            " the classes, or save the mask as grey values or with a palette"
        )
    unknown = sorted(values.keys() - set(classes.colours))
    if unknown:
        raise DamagedPairError(f"{pair.mask} has {describe_colour(unknown[0])}, which no class has")
    return {classes.colours[code]: count for code, count in values.items()}


def decoded(path: Path) -> Image.Image:
    """Returns the decoded content of an image file.

    Raises:
      DamagedPairError: the file cannot be decoded.
    """
    try:
        with Image.open(path) as image:
            image.load()
            return image.copy()
    except _UNREADABLE as error:
        raise DamagedPairError(f"{path} cannot be decoded: {_reason(error)}") from None


def pixel_values(mask: Image.Image, facts: Facts) -> NDArray[np.int64]:
    """Returns grey values, indices of a palette, or colours `0xRRGGBB`: `[height, width]`."""
    if facts.kind == COLOUR:
        channels: NDArray[np.int64] = np.asarray(mask.convert("RGB"), np.int64)
        return channels[..., 0] << 16 | channels[..., 1] << 8 | channels[..., 2]
    pixels = np.asarray(mask)
    values = (pixels[..., 0] if pixels.ndim == 3 else pixels).astype(np.int64)
    # Pillow spreads few grey values up to 255.
    few = facts.kind == GREY and 1 < facts.bits < 8
    return values // (255 // (2**facts.bits - 1)) if few else values


def check_values(
    name: str, values: Collection[int], allowed: Collection[int], count: int, ignore_label: int
) -> None:
    """Raises a DamagedPairError for a value that is no class."""
    unknown = sorted(set(values) - set(allowed))
    if unknown:
        raise DamagedPairError(
            f"{name} has the value {unknown[0]}; classes are 0 to {count - 1}, "
            f"and {ignore_label} is ignored (--input.ignore_label)"
        )


def describe_colour(code: int) -> str:
    """Describes a colour `0xRRGGBB`."""
    return f"the colour {code >> 16} {code >> 8 & 255} {code & 255}"


def _reason(error: Exception) -> str:
    """Returns the message of an error without the name of the file."""
    if isinstance(error, UnidentifiedImageError):
        return "it is no image"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
