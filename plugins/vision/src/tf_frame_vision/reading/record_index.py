"""Byte offsets of the records of a TFRecord file, so that records can be read in any order.

`records` needs them to shuffle a data set as a whole, to resume anywhere, to skip damaged records.
Only the frames of the records are read:

    8 bytes      length of the data, little endian
    4 bytes      masked CRC-32C of the length
    length       data
    4 bytes      masked CRC-32C of the data

Source: tensorflow/core/lib/io/record_writer.h. Twelve bytes of each record are read; a million
records take some seconds, so the offsets are kept next to the file (`record_cache`). Damage of the
data shows when a record is read.
"""

from __future__ import annotations

import array
import dataclasses
import struct
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_vision.reading import cache, record_cache

_HEADER = struct.Struct("<QI")
_CRC_BYTES = 4
_FRAME_BYTES = _HEADER.size + _CRC_BYTES
_MASK_DELTA = 0xA282EAD8
_GZIP_MAGIC = b"\x1f\x8b"
# Castagnoli's polynomial, reversed (RFC 3720, section 12.1).
_POLYNOMIAL = 0x82F63B78


@dataclasses.dataclass(frozen=True)
class RecordIndex:
    """The records of a file.

    Attributes:
      path: the file.
      offsets: byte offset of each record; of a gzipped file, in its unpacked copy.
      damage: problem of the framing behind the last record; empty: none.
      copy: the unpacked copy of a gzipped file.
    """

    path: Path
    offsets: array.array[int]
    damage: str = ""
    copy: Path | None = None


def index_records(path: Path) -> RecordIndex:
    """Finds the records of a file, up to the first damage of its framing.

    The offsets are kept in a cache next to the file if it can be written. A gzipped file is
    unpacked once, to the same cache or else to one of the user's own.

    Raises:
      DataError: the file cannot be read or unpacked.
    """
    try:
        seen = cache.file_state(path)
        is_gzipped = _is_gzipped(path)
    except OSError as error:
        raise DataError(f"{short(path)} cannot be read: {error.strerror}") from None
    folder = record_cache.cache_folder(path, needed=is_gzipped)
    if folder is None:
        return _indexed(path, None, "")
    copy = record_cache.unpacked(folder, path) if is_gzipped else None
    offsets = record_cache.read_index(folder, path, is_gzipped=is_gzipped)
    if offsets is not None:
        return RecordIndex(path, offsets, "", copy)
    index = _indexed(path, copy, record_cache.unpack(folder, path) if is_gzipped else "")
    if not index.damage:
        record_cache.write_index(folder, path, index.offsets, is_gzipped=is_gzipped, seen=seen)
    return index


def _indexed(path: Path, copy: Path | None, cut: str) -> RecordIndex:
    """Walks over the records of a file, or of its unpacked copy; see `index_records`."""
    offsets = array.array("q")
    try:
        with (copy or path).open("rb", buffering=0) as file:
            damage = _walk(file, file.seek(0, 2), offsets) or cut
    except OSError as error:
        raise DataError(f"{short(path)} cannot be read: {error.strerror}") from None
    return RecordIndex(path, offsets, f"{path}: {damage}" if damage else "", copy)


def _is_gzipped(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
    # The length of a first record may begin with the same bytes.
    checksum = int.from_bytes(header[8:12], "little")
    return header.startswith(_GZIP_MAGIC) and masked_crc32c(header[:8]) != checksum


def _walk(file: Any, num_bytes: int, offsets: array.array[int]) -> str:
    """Appends the offset of every whole record; returns the problem behind them, if any."""
    offset = 0
    while offset < num_bytes:
        file.seek(offset)
        damage, end = _check_frame(file.read(_HEADER.size), offset, num_bytes)
        if damage:
            return f"record {len(offsets)} (byte offset {offset}): {damage}"
        offsets.append(offset)
        offset = end
    return ""


def _check_frame(header: bytes, offset: int, num_bytes: int) -> tuple[str, int]:
    """Returns the problem of a record, if any, and the offset of the next one."""
    if len(header) < _HEADER.size:
        return f"it is cut after {len(header)} bytes", num_bytes
    length, checksum = _HEADER.unpack(header)
    if masked_crc32c(header[:8]) != checksum:
        return "the checksum of its length is wrong", num_bytes
    end = offset + _FRAME_BYTES + length
    if end > num_bytes:
        return f"it is cut: {end - num_bytes} of its {end - offset} bytes are missing", num_bytes
    return "", end


def masked_crc32c(data: bytes) -> int:
    """Returns the checksum of TFRecord files: CRC-32C, rotated by 15 bits, plus a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_table_entry, range(256)))
