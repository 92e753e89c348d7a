"""Keeps arrays that were read from a file, next to the file: `.tf_frame/NAME.KIND`."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame_vision.reading import cache

_LENGTH_BYTES = 8


@dataclasses.dataclass(frozen=True)
class Content:
    """Content of a file.

    Attributes:
      arrays: numbers, by name.
      facts: everything else, in a form that JSON can hold.
    """

    arrays: Mapping[str, Any]
    facts: Mapping[str, Any]


def cached(path: Path, read: Callable[[Path], Content], *, kind: str, version: int) -> Content:
    """Returns the content of a file, from an earlier start or by `read`.

    Args:
      path: the file.
      read: reads the file.
      kind: the ending of the cache's name.
      version: of `read`.

    Raises:
      DataError: `read` does so.
    """
    if not path.exists():
        return read(path)
    kept = path.parent / cache.FOLDER / f"{path.name}.{kind}"
    state = {"reader": version, "byte_order": sys.byteorder, **cache.file_state(path)}
    data = cache.load(kept, state)
    if data is not None:
        return _unpack(data)
    started = time.monotonic()
    content = read(path)
    if time.monotonic() - started >= cache.KEPT_AFTER_SECS:
        cache.keep(kept, state, _pack(content))
    return content


def _pack(content: Content) -> list[bytes | memoryview]:
    """Returns a length, JSON of so many bytes: types and shapes and the facts; then the arrays."""
    table = [(name, array.dtype.str, array.shape) for name, array in content.arrays.items()]
    arrays = [np.ascontiguousarray(array) for array in content.arrays.values() if array.size]
    facts = json.dumps([table, content.facts]).encode()
    return [
        len(facts).to_bytes(_LENGTH_BYTES, "big"),
        facts,
        *(array.data.cast("B") for array in arrays),
    ]


def _unpack(data: memoryview) -> Content:
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
    table, facts = json.loads(bytes(data[_LENGTH_BYTES:start]))
    arrays = {}
    for name, dtype, shape in table:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, dtype, count, start).reshape(shape)
        start += arrays[name].nbytes
    return Content(arrays, facts)
