"""Reads CIFAR-10 in its binary version, https://www.cs.toronto.edu/~kriz/cifar.html.

It is the source of the converter `cifar10`. A record is a byte for the class and 3072
for the pixels: all red ones, row by row, then the green and the blue ones.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_classification.convert.pictures import Picture, Source, read_file
from tf_frame_vision.convert.folders import check_folder

CLASS_NAMES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
FILES = {
    "train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
    "test": ("test_batch.bin",),
    "validation": ("test_batch.bin",),
}
_SIDE = 32
_IMAGE_BYTES = 3 * _SIDE * _SIDE
_RECORD_BYTES = 1 + _IMAGE_BYTES
# Folder in the published archive.
_INNER_FOLDER = "cifar-10-batches-bin"


def read_cifar10(root: Path, *, split: str) -> Source:
    """Reads a split, in the order of its files.

    Args:
      root: folder of the files, or the one above it.
      split: a key of `FILES`.

    Raises:
      DataError: a file is missing or damaged.
    """
    check_folder(root, "the binary batches")
    folder = root / _INNER_FOLDER if (root / _INNER_FOLDER).is_dir() else root
    pictures: list[Picture] = []
    digest = hashlib.sha256()
    for name in FILES[split]:
        records = _read_batch(folder / name)
        digest.update(records)
        pictures += _pictures(name, records)
    return Source(CLASS_NAMES, pictures, digest.hexdigest(), _IMAGE_BYTES * len(pictures))


def _read_batch(path: Path) -> Any:
    """Returns `[records, 3073]` uint8."""
    if not path.exists():
        raise DataError(f"there is no {short(path)}: SOURCE is the folder of the binary version")
    content = read_file(path)
    if not content or len(content) % _RECORD_BYTES:
        raise DataError(
            f"{short(path)} has {len(content)} bytes, which is no multiple of the "
            f"{_RECORD_BYTES} of a record: is it of the binary version, and whole?"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, _RECORD_BYTES)
    if records[:, 0].max() >= len(CLASS_NAMES):
        raise DataError(f"{short(path)} has a label {records[:, 0].max()}; there are only 0 to 9")
    return records


def _pictures(name: str, records: Any) -> list[Picture]:
    stem = name.removesuffix(".bin")
    return [
        Picture(f"{stem}/{index:05}.png", int(record[0]), functools.partial(_load, record))
        for index, record in enumerate(records)
    ]


def _load(record: Any) -> Any:
    return record[1:].reshape(3, _SIDE, _SIDE).transpose(1, 2, 0)
