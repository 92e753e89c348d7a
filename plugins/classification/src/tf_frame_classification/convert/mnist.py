"""Reads MNIST and Fashion-MNIST as they are published: idx files, gzipped or not.

They are the sources of the converters `mnist` and `fashion_mnist`. The format,
http://yann.lecun.com/exdb/mnist/: 32 bit big-endian numbers, a magic one and then the size of
each dimension, followed by a byte for each value.
"""

from __future__ import annotations

import functools
import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_classification.convert.pictures import Picture, Source, read_file
from tf_frame_classification.inputs.fashion_mnist import FASHION
from tf_frame_vision.convert.folders import check_folder

CLASS_NAMES = {
    # Names of slim (research/slim/datasets/download_and_convert_mnist.py).
    "mnist": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    "fashion_mnist": FASHION,
}
PREFIXES = {"train": "train", "test": "t10k", "validation": "t10k"}
_IMAGES_MAGIC = 0x00000803
_LABELS_MAGIC = 0x00000801


def read_mnist(root: Path, *, split: str, class_names: tuple[str, ...]) -> Source:
    """Reads a split, in the order of its files.

    Args:
      root: folder of the files, under their published names.
      split: a key of `PREFIXES`.
      class_names: the ten names.

    Raises:
      DataError: a file is missing or damaged, is no idx file, or the two do not fit together.
    """
    check_folder(root, "the idx files")
    images_name = f"{PREFIXES[split]}-images-idx3-ubyte"
    images_path = _path(root, images_name)
    labels_path = _path(root, f"{PREFIXES[split]}-labels-idx1-ubyte")
    images = _read_idx(images_path, _IMAGES_MAGIC)
    labels = _read_idx(labels_path, _LABELS_MAGIC)
    if len(images) != len(labels):
        raise DataError(
            f"{images_path} has {len(images)} images, but {labels_path} {len(labels)} labels: "
            "they are not of the same set"
        )
    if len(labels) and labels.max() >= len(class_names):
        raise DataError(f"{labels_path} has a label {labels.max()}; there are only 0 to 9")
    pictures = [
        Picture(f"{images_name}/{index:05}.png", int(label), functools.partial(_load, image))
        for index, (image, label) in enumerate(zip(images, labels, strict=True))
    ]
    return Source(class_names, pictures, _fingerprint(images, labels), images.nbytes)


def _path(root: Path, name: str) -> Path:
    for path in (root / f"{name}.gz", root / name):
        if path.exists():
            return path
    raise DataError(f"{short(root)} has neither {name}.gz nor {name}")


def _read_idx(path: Path, magic: int) -> Any:
    """Returns the array of a file."""
    content = read_file(path)
    seen = int.from_bytes(content[:4], "big")
    if len(content) < 4 or seen != magic:
        raise DataError(
            f"{short(path)} begins with {content[:4].hex(' ') or 'nothing'}, not with the magic "
            f"number {magic:#010x} of its kind of idx file"
        )
    # The last byte of the magic number is the number of dimensions.
    ends = 4 + 4 * (magic & 0xFF)
    shape = [int.from_bytes(content[at : at + 4], "big") for at in range(4, ends, 4)]
    expected = ends + math.prod(shape)
    if len(content) != expected:
        raise DataError(
            f"{short(path)} has {len(content)} bytes; for {shape} there must be {expected}: "
            "fetch the file again"
        )
    return np.frombuffer(content, np.uint8, offset=ends).reshape(shape)


def _fingerprint(images: Any, labels: Any) -> str:
    return hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()


def _load(image: Any) -> Any:
    """`[height, width]` as `[height, width, 1]`."""
    return image[:, :, np.newaxis]
