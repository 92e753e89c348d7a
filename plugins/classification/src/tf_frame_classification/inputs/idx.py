"""Checks idx files, the format of MNIST: a magic number, the dimensions, the bytes.

A cut download or a wrong file ends the run at its start, with what to do; TensorFlow would only
see bytes. Source: http://yann.lecun.com/exdb/mnist/, which Fashion-MNIST keeps to.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import short

_BYTES = 8
_CHUNK_BYTES = 1 << 20


def read_idx_shape(path: Path, *, rank: int) -> tuple[int, ...]:
    """Checks a file of bytes, gzipped or not, and returns its dimensions.

    The file is read to its end, so that a cut file is found.

    Args:
      path: the file.
      rank: the number of dimensions it must have: 1 for labels, 3 for images.

    Raises:
      DataError: it is no idx file, is cut or damaged, or holds no value.
    """
    try:
        shape, num_bytes = _shape_and_bytes(path, rank)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{short(path)} cannot be read: {error}. Copy or download it again."
        ) from None
    expected = header_bytes(rank) + math.prod(shape)
    if num_bytes != expected:
        raise DataError(
            f"{short(path)} has {num_bytes} bytes; its dimensions {list(shape)} need {expected}."
            " Copy or download it again."
        )
    if not math.prod(shape):
        raise DataError(f"{short(path)} holds nothing: its dimensions are {list(shape)}.")
    return shape


def num_classes(path: Path) -> int:
    """Returns the largest label of a file of labels that `read_idx_shape` has checked, plus one."""
    return max(read_labels(path)) + 1


def read_labels(path: Path) -> bytes:
    """Returns the labels of a file that `read_idx_shape` has checked."""
    with _opened(path) as file:
        content: bytes = file.read()[header_bytes(1) :]
    return content


def header_bytes(rank: int) -> int:
    """Returns the number of bytes before the values."""
    return 4 + 4 * rank


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")


def _shape_and_bytes(path: Path, rank: int) -> tuple[tuple[int, ...], int]:
    with _opened(path) as file:
        header = file.read(header_bytes(rank))
        magic = bytes([0, 0, _BYTES, rank])
        if len(header) < header_bytes(rank) or header[:4] != magic:
            raise DataError(
                f"{short(path)} is no idx file of bytes with {rank} dimensions: it begins with"
                f" {header[:4].hex() or 'nothing'}, not with {magic.hex()}."
                " Copy or download it again."
            )
        num_bytes = len(header)
        while chunk := file.read(_CHUNK_BYTES):
            num_bytes += len(chunk)
    return struct.unpack(f">{rank}I", header[4:]), num_bytes
