"""Compressed constants for long lists of names and numbers in a graph.

A graph is written into events files and next to checkpoints; the names of a million files would
make it 100 MB. Compressed, they take a tenth.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

# No file name contains this character.
_BETWEEN = "\0"


def strings(values: Sequence[str]) -> Any:
    """Stores texts compressed in the graph; returns a `[len(values)]` string tensor.

    Args:
      values: texts, none of them empty.
    """
    text = _BETWEEN.join(values).encode("utf-8", "surrogateescape")
    return tf.strings.split([_unpacked(text)], sep=_BETWEEN).values


def integers(values: Sequence[int]) -> Any:
    """Stores integers compressed in the graph; returns a `[len(values)]` int64 tensor.

    Differences of neighbours are stored, so evenly spaced values take the least room.
    """
    steps = np.diff(np.asarray(values, np.int64), prepend=0)
    return tf.cumsum(tf.io.decode_raw(_unpacked(steps.astype("<i8").tobytes()), tf.int64))


def values(array: Any) -> Any:
    """Stores a NumPy array compressed in the graph; returns a tensor of its type and shape."""
    if array.dtype == np.bool_:
        return tf.cast(values(array.astype(np.uint8)), tf.bool)
    little = array.astype(array.dtype.newbyteorder("<"))
    return tf.reshape(tf.io.decode_raw(_unpacked(little.tobytes()), array.dtype), array.shape)


def _unpacked(data: bytes) -> Any:
    return tf.io.decode_compressed(tf.constant(zlib.compress(data)), "ZLIB")
