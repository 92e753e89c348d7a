"""Keeps facts about the data in files of a hidden folder next to the data, for later starts.

    .tf_frame/NAME   a line of JSON: version of tf-frame, state of the data, checksum; then facts

All runs that share the data share the folder. Facts count for the same state only, such as size and
time of modification of a file. A lost or damaged file costs time only; without permission to write,
or on a full disk, nothing is kept. Files get their names when they are whole, so that several
processes may write at once. Does not import TensorFlow.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import mmap
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tf_frame
from tf_frame.visible_files import open_to_read

FOLDER = ".tf_frame"
# What takes less time is not kept.
KEPT_AFTER_SECS = 0.5
_CHUNK_BYTES = 1 << 20
_LOG = logging.getLogger("tf_frame")
Part = bytes | memoryview


def file_state(path: Path) -> dict[str, int]:
    """Returns size and time of modification of a file.

    Raises:
      OSError: there is no such file.
    """
    status = path.stat()
    return {"bytes": status.st_size, "mtime_ns": status.st_mtime_ns}


def load(path: Path, state: Mapping[str, Any]) -> memoryview | None:
    """Returns the facts in a file; None if it is lost, damaged, or of another state or version.

    Facts that are not used take no memory.

    Args:
      path: a file of the hidden folder.
      state: see `keep`.
    """
    try:
        with open_to_read(path) as file:
            header = file.readline()
            if header != _header(state, iter(functools.partial(file.read, _CHUNK_BYTES), b"")):
                return None
            return memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))[len(header) :]
    except OSError:
        return None


def keep(path: Path, state: Mapping[str, Any], parts: Sequence[Part]) -> None:
    """Writes facts, if that is possible.

    Args:
      path: a file of the hidden folder.
      state: everything that the facts depend on, in a form that JSON can hold.
      parts: the facts, one part after the other.
    """
    write_whole(path, [_header(state, parts), *parts])


def write_whole(path: Path, parts: Iterable[Part]) -> None:
    """Writes a file of the hidden folder, which is made, if that is possible."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        with open(partial, "wb") as file:
            file.writelines(parts)
        partial.replace(path)
    except OSError as error:
        _LOG.info("%s is not kept: %s", path, error)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _header(state: Mapping[str, Any], parts: Iterable[Part]) -> bytes:
    checksum = functools.reduce(lambda crc, part: zlib.crc32(part, crc), parts, 0)
    header = {"version": tf_frame.__version__, **state, "crc32": checksum}
    return json.dumps(header).encode() + b"\n"
