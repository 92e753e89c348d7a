"""Cache of arrays that were read from a file, next to the file.

    .tf_frame/NAME.KIND   a line of JSON: version, size and time of NAME, checksum; then the arrays

It counts for a file of the same size and time of modification. A damaged cache, or one of another
version, is made anew; without permission to write nothing is kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame_vision.reading.record_cache import FOLDER, cache_folder

_LOG = logging.getLogger("tf_frame")
_KEPT_AFTER_SECS = 0.5


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
    """Returns the content of a file, unless it is kept by an earlier start, by `read`.

    Args:
      path: the file.
      read: reads the file.
      kind: the ending of the cache's name.
      version: of `read`.

    Raises:
      DataError: `read` does so.
    """
    cache = path.parent / FOLDER / f"{path.name}.{kind}"
    if not path.exists():
        return read(path)
    state = _state(path, version)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        # A cache that is lost or damaged costs time only.
        kept = _load(cache, state)
        if kept is not None:
            return kept
    started = time.monotonic()
    content = read(path)
    if time.monotonic() - started >= _KEPT_AFTER_SECS and cache_folder(path, needed=False):
        _save(cache, content, state)
    return content


def _state(path: Path, version: int) -> dict[str, Any]:
    status = path.stat()
    return {
        "version": version,
        "bytes": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "byte_order": sys.byteorder,
    }


def _load(cache: Path, state: Mapping[str, Any]) -> Content | None:
    with open(cache, "rb") as file:
        header = json.loads(file.readline())
        if header["state"] != state:
            return None
        data = file.read()
    if zlib.crc32(data) != header["crc32"]:
        return None
    arrays, start = {}, header["facts_bytes"]
    for name, dtype, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, dtype, count, start).reshape(shape)
        start += arrays[name].nbytes
    return Content(arrays, json.loads(data[: header["facts_bytes"]]))


def _save(cache: Path, content: Content, state: Mapping[str, Any]) -> None:
    facts = json.dumps(content.facts).encode()
    arrays = [np.ascontiguousarray(array) for array in content.arrays.values() if array.size]
    parts: list[Any] = [facts, *(array.data.cast("B") for array in arrays)]
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    header = {
        "state": state,
        "crc32": crc,
        "facts_bytes": len(facts),
        "arrays": [(name, array.dtype.str, array.shape) for name, array in content.arrays.items()],
    }
    partial = cache.with_name(f"{cache.name}.{os.getpid()}")
    try:
        with open(partial, "wb") as file:
            file.writelines([json.dumps(header).encode(), b"\n", *parts])
        partial.replace(cache)
    except OSError as error:
        _LOG.info("no cache of %s is kept: %s", cache, error)
        with contextlib.suppress(OSError):
            partial.unlink()
