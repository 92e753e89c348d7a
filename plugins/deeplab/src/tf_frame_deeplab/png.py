"""Checks PNG files without decoding their pixels, and without TensorFlow."""

from __future__ import annotations

import dataclasses
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY = 0


@dataclasses.dataclass(frozen=True)
class PngHeader:
    """What the first chunk of a PNG file says.

    Attributes:
      height: in pixels.
      width: in pixels.
      is_grey: whether a pixel is one number, its own brightness.
    """

    height: int
    width: int
    is_grey: bool


def read_png(path: Path) -> PngHeader:
    """Reads a PNG's header and checks that the file is whole.

    Checksums and compression are checked; pixels are unpacked piece by piece
    and thrown away.

    Args:
      path: the file.

    Raises:
      ValueError: the file is not a whole PNG; the message says why.
      OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(_SIGNATURE)) != _SIGNATURE:
            raise ValueError("it does not begin like a PNG file")
        header = None
        pixels = zlib.decompressobj()
        for name, data in _chunks(file):
            if header is None:
                header = _parse_header(name, data)
            elif name == b"IDAT":
                _unpack(pixels, data)
    if header is None or not pixels.eof:
        raise ValueError("its pixels end too early")
    return header


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    name = b""
    while name != b"IEND":
        start = file.read(8)
        if len(start) < 8:
            raise ValueError("it ends too early")
        length, name = struct.unpack(">I4s", start)
        data, checksum = file.read(length), file.read(4)
        if len(data) < length or len(checksum) < 4:
            raise ValueError("it ends too early")
        if struct.unpack(">I", checksum)[0] != zlib.crc32(name + data):
            raise ValueError(f"the checksum of its chunk {name.decode('latin-1')} is wrong")
        yield name, data


def _parse_header(name: bytes, data: bytes) -> PngHeader:
    if name != b"IHDR" or len(data) != 13:
        raise ValueError("it has no header")
    width, height, _, colour_type = struct.unpack(">IIBB", data[:10])
    return PngHeader(height=height, width=width, is_grey=colour_type == _GREY)


def _unpack(pixels: zlib._Decompress, data: bytes) -> None:
    try:
        while data:
            pixels.decompress(data, 1 << 20)
            data = pixels.unconsumed_tail
    except zlib.error as error:
        raise ValueError(f"its pixels cannot be unpacked ({error})") from None
