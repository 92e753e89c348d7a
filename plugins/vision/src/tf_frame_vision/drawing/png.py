"""PNG files: reading of the header, check of the whole file, encoding, atomic writing; by Pillow.

A cut or damaged image of the data ends a run at its start, not at the step that reads it; and a
full disk or a stopped run leaves no half-written prediction.
"""

from __future__ import annotations

import dataclasses
import io
import struct
import zlib
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from tf_frame.atomic_output import atomic_output

# Pillow's modes of images with one brightness for each pixel.
_GREY = ("1", "L", "I", "I;16")
_PALETTE_SIZE = 256
_DAMAGED = (SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)


@dataclasses.dataclass(frozen=True)
class PngHeader:
    """Size and kind of a PNG file.

    Attributes:
      height: in pixels.
      width: in pixels.
      is_grey: whether a pixel is one number, its own brightness.
    """

    height: int
    width: int
    is_grey: bool


def read_png(path: Path) -> PngHeader:
    """Reads a PNG's header and checks that the file is whole: checksums and pixels.

    Raises:
      ValueError: the file is not a whole PNG; the message says why.
      OSError: it cannot be read, or ends too early.
    """
    try:
        # Image.open refuses very large images as a decompression bomb.
        with PngImageFile(path) as image:
            image.verify()
        with PngImageFile(path) as image:
            image.load()
            return PngHeader(image.height, image.width, image.mode in _GREY)
    except _DAMAGED as error:
        # Pillow raises an IndexError for a file without pixels.
        message = "it has no pixels" if isinstance(error, IndexError) else str(error)
        raise ValueError(message) from error


def encoded_png(pixels: Any) -> bytes:
    """Returns the content of a PNG file.

    Args:
      pixels: `[height, width, 3]` or `[height, width]`, uint8.
    """
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write_png(path: Path, pixels: Any, *, colours: Any = None) -> None:
    """Writes a PNG file whole or, after an error such as a full disk, not at all.

    Args:
      pixels: `[height, width, 3]` uint8, or `[height, width]` uint8 or uint16.
      colours: `[count, 3]` uint8: red, green and blue of each value of uint8 pixels.
    """
    image = Image.fromarray(pixels)
    if colours is not None:
        # With few colours Pillow would put several pixels into a byte.
        image.putpalette(colours.tobytes().ljust(3 * _PALETTE_SIZE, b"\0"))
    with atomic_output(str(path)) as temporary:
        # Its name ends in ".partial", so the format must be given.
        image.save(temporary, "PNG")
