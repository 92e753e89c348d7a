"""Long lists of names and numbers, which are no part of the graph.

A graph is written into events files and next to checkpoints, and must not grow with the data. So it
reads each list from a temporary file, which exists as long as the graph. The operations have no
state, run in every process that sees the file, and no checkpoint has the list.

Rows are read by operations within the functions of a data set. A tensor of the list outside of it
would be copied when TensorFlow rewrites the data set.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError

# No file name contains this character.
_BETWEEN = "\0"


def strings(values: Sequence[str]) -> Any:
    """Returns a `[len(values)]` string tensor of texts, in UTF-8; there is one at least."""
    text = _BETWEEN.join(values).encode("utf-8", "surrogateescape")
    tensor = tf.strings.split([content(text)], sep=_BETWEEN).values
    tensor.set_shape([len(values)])
    return tensor


class Texts:
    """Texts by their index; they need a third of the memory of `strings`.

    Attributes:
      dtype, shape: `string` and `[len(values)]`.
    """

    def __init__(self, values: Sequence[str]) -> None:
        encoded = [value.encode("utf-8", "surrogateescape") for value in values]
        self.dtype, self.shape = tf.string, tf.TensorShape([len(encoded)])
        self._joined = content(b"".join(encoded))
        self._ends = Rows(np.cumsum([0, *map(len, encoded)]))

    def __getitem__(self, index: Any) -> Any:
        start = self._ends[index]
        return tf.strings.substr(self._joined, start, self._ends[index + 1] - start)


class Rows:
    """Rows of a NumPy array of numbers or truth values, by their index.

    Attributes:
      dtype, shape: those of the array.
    """

    def __init__(self, values: Any) -> None:
        values = np.asarray(values)
        self.dtype, self.shape = tf.as_dtype(values.dtype), tf.TensorShape(values.shape)
        self._path = _write(np.ascontiguousarray(values).data.cast("B")) if values.size else None

    def __getitem__(self, index: Any) -> Any:
        return self.all()[index]

    def all(self) -> Any:
        """Returns a tensor of all rows."""
        if self._path is None:
            return tf.zeros(self.shape, self.dtype)
        # It maps the file into memory, so that only pages that are read take memory.
        return tf.raw_ops.ImmutableConst(
            dtype=self.dtype, shape=self.shape, memory_region_name=self._path
        )


class Ragged:
    """Groups of rows, by their index.

    Attributes:
      dtype, shape: of the array, and `[number of groups, None, ...]`.
    """

    def __init__(self, values: Any, ends: Rows) -> None:
        """Groups the rows of a NumPy array.

        Args:
          values: the rows of all groups, one after the other.
          ends: where each group begins, and the end of the last one.
        """
        self._rows, self._ends = Rows(values), ends
        self.dtype = self._rows.dtype
        self.shape = tf.TensorShape([ends.shape[0] - 1, None, *values.shape[1:]])

    def __getitem__(self, index: Any) -> Any:
        return self._rows[self._ends[index] : self._ends[index + 1]]


def content(data: bytes) -> Any:
    """Returns a scalar string tensor of bytes.

    Raises:
      DataError: there is no room for a temporary file.
    """
    return tf.io.read_file(_write(data))


def _write(data: bytes | memoryview) -> str:
    """Returns the path of a file with these bytes, which goes with the graph."""
    try:
        handle, path = tempfile.mkstemp(prefix="tf_frame_", suffix=".array")
        weakref.finalize(tf.get_default_graph(), _remove, path)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        raise DataError(
            f"{tempfile.gettempdir()} cannot hold {len(data)} bytes of the input's lists: "
            f"{error.strerror}; name another folder by TMPDIR"
        ) from None
    return path


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
