"""Byte offsets of the records of a TFRecord file, so that records can be read in any order.

`records` needs them to shuffle a data set as a whole, to resume anywhere, to skip damaged records.
Only the frames of the records are read:

    8 bytes      length of the data, little endian
    4 bytes      masked CRC-32C of the length
    length       data
    4 bytes      masked CRC-32C of the data

Source: tensorflow/core/lib/io/record_writer.h. Twelve bytes of each record are read; a million
records take some seconds on a quick disk. Damage of the data shows when a record is read.
"""

from __future__ import annotations

import array
import dataclasses
import struct
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError

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
      offsets: byte offset of each record.
      damage: problem of the framing behind the last record; empty: none.
    """

    path: Path
    offsets: array.array[int]
    damage: str = ""


def index_records(path: Path) -> RecordIndex:
    """Finds the records of a file, up to the first damage of its framing.

    Raises:
      DataError: the file cannot be read, or is compressed as a whole.
    """
    offsets = array.array("q")
    try:
        with path.open("rb", buffering=0) as file:
            damage = _walk(file, file.seek(0, 2), offsets)
            _check_not_compressed(path, file)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return RecordIndex(path, offsets, f"{path}: {damage}" if damage else "")


def _walk(file: Any, num_bytes: int, offsets: array.array[int]) -> str:
    """Appends the offset of every whole record; returns the problem behind them, if any."""
    offset = 0
    while offset < num_bytes:
        file.seek(offset)
        damage, end = _end_of_record(file.read(_HEADER.size), offset, num_bytes)
        if damage:
            return f"record {len(offsets)} (byte offset {offset}): {damage}"
        offsets.append(offset)
        offset = end
    return ""


def _end_of_record(header: bytes, offset: int, num_bytes: int) -> tuple[str, int]:
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


def _check_not_compressed(path: Path, file: Any) -> None:
    file.seek(0)
    if file.read(2) == _GZIP_MAGIC:
        raise DataError(
            f"{path} is compressed by gzip; its records cannot be found one by one. Unpack it."
        )


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
