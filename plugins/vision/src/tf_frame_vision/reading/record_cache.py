"""Cache next to TFRecord files: offsets of records, and unpacked copies of gzipped files.

    .tf_frame/NAME.index     byte offsets of the records of NAME; see `cache`
    .tf_frame/NAME.records   a gzipped NAME, unpacked

No pattern of shards matches the hidden folder.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import gzip
import hashlib
import logging
import os
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_vision.reading import cache
from tf_frame_vision.reading.cache import FOLDER

_LOG = logging.getLogger("tf_frame")
_CHUNK_BYTES = 1 << 20


def cache_folder(path: Path, *, needed: bool) -> Path | None:
    """Returns the existing cache folder of a file; None if no folder can be written.

    Args:
      needed: whether to fall back on a folder of the user.

    Raises:
      DataError: a folder is needed, and none can be written.
    """
    candidates = [path.parent / FOLDER]
    if needed:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        digest = hashlib.sha256(os.fsencode(path.parent.resolve())).hexdigest()
        candidates.append(home / "tf_frame" / digest[:16])
    for folder in candidates:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    if needed:
        raise DataError(
            f"{short(path)} is gzipped, and neither {candidates[0]} nor {candidates[1]} can be "
            "written to unpack it; run gunzip on a copy of the file"
        )
    return None


def read_index(folder: Path, path: Path, *, is_gzipped: bool) -> array.array[int] | None:
    """Reads the offsets of the records of a file; None without a valid index."""
    data = cache.load(_index(folder, path), _state(folder, path, is_gzipped))
    if data is None:
        return None
    offsets = array.array("q")
    offsets.frombytes(data)
    return offsets


def write_index(
    folder: Path,
    path: Path,
    offsets: array.array[int],
    *,
    is_gzipped: bool,
    seen: Mapping[str, int],
) -> None:
    """Writes the offsets of the records of a file, if that is possible.

    Args:
      offsets: byte offset of each record.
      is_gzipped: whether they are those of the unpacked copy.
      seen: state of the file before it was read; if it has changed, the index never counts.
    """
    state = {**_state(folder, path, is_gzipped), **seen}
    cache.keep(_index(folder, path), state, [offsets.tobytes()])


def unpacked(folder: Path, path: Path) -> Path:
    """Returns the path of the unpacked copy of a file."""
    return folder / f"{path.name}.records"


def unpack(folder: Path, path: Path) -> str:
    """Unpacks a gzipped file; processes that do so at the same time wait for each other.

    Args:
      path: the gzipped file.

    Returns:
      Why the file cannot be unpacked to its end; empty if it was.

    Raises:
      DataError: the file cannot be read, or the copy cannot be written.
    """
    _LOG.info("unpacking %s to %s", path, unpacked(folder, path))
    try:
        with _locked(folder / f"{path.name}.partial") as target:
            if read_index(folder, path, is_gzipped=True) is not None:
                return ""  # Another process has just done it.
            target.truncate(0)
            damage = _copy(path, target)
            target.flush()
            os.replace(target.name, unpacked(folder, path))
    except OSError as error:
        (folder / f"{path.name}.partial").unlink(missing_ok=True)
        raise DataError(
            f"{short(path)} is gzipped and cannot be unpacked to {short(folder)}: "
            f"{error.strerror or error}; free space there, or run gunzip on the file"
        ) from None
    return damage


def _copy(path: Path, target: BinaryIO) -> str:
    try:
        with gzip.open(path, "rb") as file:
            # Unlike `read`, this returns what comes before a cut.
            while chunk := file.read1(_CHUNK_BYTES):
                target.write(chunk)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        return f"it cannot be unpacked: {error}"
    return ""


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """Opens a file that one process at a time may write."""
    with open(path, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _index(folder: Path, path: Path) -> Path:
    return folder / f"{path.name}.index"


def _state(folder: Path, path: Path, is_gzipped: bool) -> dict[str, Any]:
    copy = unpacked(folder, path)
    size = copy.stat().st_size if is_gzipped and copy.exists() else None
    return {**cache.file_state(path), "unpacked_bytes": size, "byte_order": sys.byteorder}
