"""Size, orientation and format of an image file, read from its header by Pillow.

Programs show a photograph turned as its EXIF orientation says; so do all inputs here. The header
is read before pixels are decoded, so that a small file cannot claim gigabytes of memory.

Does not import TensorFlow.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import struct
import threading
from collections.abc import Iterator
from typing import IO, Any

from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from tf_frame.errors import DataError
from tf_frame.visible_files import open_to_read
from tf_frame_vision.reading.exif import read_orientation
from tf_frame_vision.reading.image_options import MAX_PIXELS
from tf_frame_vision.reading.orientation import turned_size

_READERS: dict[bytes, Any] = {
    rb"\xff\xd8\xff": JpegImagePlugin.jpeg_factory,
    rb"\x89PNG\r\n\x1a\n": PngImagePlugin.PngImageFile,
    rb"GIF8[79]a": GifImagePlugin.GifImageFile,
    rb"BM": BmpImagePlugin.BmpImageFile,
    rb"RIFF....WEBP": WebPImagePlugin.WebPImageFile,
    rb"II\*\0|MM\0\*|II\+\0|MM\0\+": TiffImagePlugin.TiffImageFile,
    rb"P[1-6]\s": PpmImagePlugin.PpmImageFile,
}
_FORMATS = "JPEG, PNG, GIF, BMP, WebP, TIFF or PPM"
# A byte of a PNG becomes at most 1032 bytes (RFC 1951) of at most 8 pixels; of the others less.
MOST_PIXELS_PER_BYTE = 8400
_LIMITED = ("JPEG", "PNG", "GIF", "BMP", "PPM")
Source = str | os.PathLike[str] | bytes


class ImageError(DataError):
    """An image cannot be used; the message is a clause about it, such as `it is empty`."""


@dataclasses.dataclass(frozen=True)
class ImageHeader:
    """Facts about an image that need no pixels.

    Attributes:
      height, width: of the image as shown, in pixels.
      stored_height, stored_width: of the pixels as stored in the file.
      orientation: of EXIF, 1 to 8; see `orientation`.
      format: `JPEG`, `PNG`, `GIF`, `BMP`, `WEBP`, `TIFF` or `PPM`.
    """

    height: int
    width: int
    stored_height: int
    stored_width: int
    orientation: int
    format: str


def read_header(source: Source, *, max_pixels: int = MAX_PIXELS) -> ImageHeader:
    """Reads the header of an image.

    Args:
      source: path of a file, or its content.
      max_pixels: the largest number of pixels of an image that is not refused.

    Raises:
      ImageError: the file is missing, empty or damaged, no image, or too large.
    """
    with open_image(source, max_pixels=max_pixels) as (_, header):
        return header


@contextlib.contextmanager
def open_image(source: Source, *, max_pixels: int) -> Iterator[tuple[Any, ImageHeader]]:
    """Opens an image with Pillow, and reads its header; see `read_header`.

    An error in the block, as of Pillow's decoders, becomes an `ImageError`.
    """
    try:
        with (
            _no_limit_of_pillow(),
            io.BytesIO(source) if isinstance(source, bytes) else open_to_read(source) as file,
            _reader(file, max_pixels)(file) as image,
        ):
            yield image, _header(image, file, max_pixels)
    except ImageError:
        raise
    except FileNotFoundError:
        raise ImageError("it is missing") from None
    except OSError as error:
        verb = "decoded" if error.errno is None else "read"
        raise ImageError(f"it cannot be {verb}: {_reason(error)}") from None
    except Exception as error:  # Pillow's readers raise nearly any exception for damaged files.
        raise ImageError(f"it cannot be decoded: {_reason(error)}") from None


def _check_size(height: int, width: int, max_pixels: int) -> None:
    """Refuses an image without pixels, or with too many."""
    if height < 1 or width < 1:
        raise ImageError(f"it is {height} x {width} pixels large")
    if height * width > max_pixels:
        raise ImageError(
            f"it is {height} x {width} pixels, more than {max_pixels} (--input.max_pixels)"
        )


def _reader(file: IO[bytes], max_pixels: int) -> Any:
    """Returns Pillow's class for the format of a file.

    `Image.open` would warn of images of half the largest size.
    """
    head = file.read(30)
    file.seek(0)
    if not head:
        raise ImageError("it is empty")
    for magic, reader in _READERS.items():
        if re.match(magic, head, re.DOTALL):
            if reader is WebPImagePlugin.WebPImageFile:
                # Pillow's reader allocates the pixels when it opens the file.
                _check_size(*_webp_size(head), max_pixels)
            return reader
    raise ImageError(f"it is no {_FORMATS}")


def _header(image: Any, file: IO[bytes], max_pixels: int) -> ImageHeader:
    width, height = image.size
    _check_size(height, width, max_pixels)
    form = "JPEG" if image.format == "MPO" else image.format
    if form in _LIMITED:
        _check_density(height, width, file)
    orientation = read_orientation(image, file)
    if form == "TIFF":  # Pillow gives the size as shown.
        height, width = turned_size(height, width, orientation)
    shown = turned_size(height, width, orientation)
    return ImageHeader(*shown, height, width, orientation, form)


def _check_density(height: int, width: int, file: IO[bytes]) -> None:
    """Refuses a damaged header that claims more pixels than the file can have.

    Decoders take the memory of all pixels before they notice the end of the file.
    """
    position = file.tell()
    num_bytes = file.seek(0, os.SEEK_END)
    file.seek(position)
    if height * width > MOST_PIXELS_PER_BYTE * num_bytes:
        raise ImageError(f"it is damaged: {num_bytes} bytes cannot be {height} x {width} pixels")


def _webp_size(head: bytes) -> tuple[int, int]:
    """Returns height and width in a WebP file; RFC 9649, section 2."""
    kind, head = head[12:16], head.ljust(30, b"\0")
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[27:30], "little"), 1 + int.from_bytes(head[24:27], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits >> 14 & 0x3FFF), 1 + (bits & 0x3FFF)
    width, height = struct.unpack("<HH", head[26:30])
    return height & 0x3FFF, width & 0x3FFF


_lock = threading.Lock()
_users = 0
_limit: int | None = None


@contextlib.contextmanager
def _no_limit_of_pillow() -> Iterator[None]:
    """Switches Pillow's own limit of pixels off, which is one for all threads."""
    global _users, _limit
    with _lock:
        if not _users:
            _limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                Image.MAX_IMAGE_PIXELS = _limit


def _reason(error: Exception) -> str:
    """Returns the message of an error as one line, without Python's objects and Pillow's counts."""
    text = getattr(error, "strerror", None) or str(error)
    text = re.sub(r" \(\d+ bytes not processed\)", "", text)
    line = re.sub(r"<[^>]* at 0x[0-9a-f]+>", "the file", text).partition("\n")[0].strip()
    return line or type(error).__name__
