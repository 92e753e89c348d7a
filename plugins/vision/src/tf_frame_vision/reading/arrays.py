"""Tensors of long lists of names and numbers, which are no part of the graph.

A graph is written into events files and next to checkpoints, and must not grow with the data. So it
reads each list from a temporary file, which exists as long as the graph. The operations have no
state, run in every process that sees the file, and stand outside of the data set, which thus holds
one copy; no checkpoint has any.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Callable, Sequence
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


def texts(values: Sequence[str]) -> Callable[[Any], Any]:
    """Returns a function from an index to a text; it needs a third of the memory of `strings`."""
    encoded = [value.encode("utf-8", "surrogateescape") for value in values]
    joined, ends = content(b"".join(encoded)), array(np.cumsum([0, *map(len, encoded)]))

    def text(index: Any) -> Any:
        return tf.strings.substr(joined, ends[index], ends[index + 1] - ends[index])

    return text


def integers(values: Sequence[int]) -> Any:
    """Returns a `[len(values)]` int64 tensor."""
    return array(np.asarray(values, np.int64))


def array(values: Any) -> Any:
    """Returns a tensor of the type and shape of a NumPy array of numbers or truth values."""
    if not values.size:
        return tf.zeros(values.shape, values.dtype)
    path = _write(np.ascontiguousarray(values).data.cast("B"))
    # It maps the file into memory, so that only pages that are read take memory.
    return tf.raw_ops.ImmutableConst(
        dtype=values.dtype, shape=values.shape, memory_region_name=path
    )


def ragged(values: Any, splits: Any) -> Any:
    """Returns a ragged tensor.

    Args:
      values: NumPy array of all rows, one after the other.
      splits: where each row begins, and the end of the last one, int64.
    """
    return tf.RaggedTensor.from_row_splits(array(values), array(splits), validate=False)


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
