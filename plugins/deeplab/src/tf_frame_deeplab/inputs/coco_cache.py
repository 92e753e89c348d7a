"""Objects of a JSON file of COCO, outside of the memory; kept next to the file for later starts.

    .tf_frame/NAME.masks   a line of JSON: state of NAME, numbers of bytes, checksum of the index;
                           then the index; then the objects of all images, as JSON

It counts for a file of the same size and time of modification. A damaged cache, or one of another
version, is made anew; without permission to write, the objects are in a temporary file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import tf_frame
from tf_frame.errors import DataError
from tf_frame_vision.reading import cache

_VERSION = 1
_CHUNK_BYTES = 1 << 20
# First byte and number of bytes.
Place = tuple[int, int]


class Spool:
    """Keeps values in a file.

    Args:
      file: the file; None: a temporary one, which goes with the object.
      start: its bytes before the first value.
      dumps, loads: from a value to text or bytes, and back.
    """

    def __init__(
        self,
        file: IO[bytes] | None = None,
        start: int = 0,
        dumps: Callable[[Any], Any] = json.dumps,
        loads: Callable[[bytes], Any] = json.loads,
    ) -> None:
        self.file = file or tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, read later
        self._start, self._dumps, self._loads = start, dumps, loads
        self.end = 0

    def keep(self, value: Any) -> Place:
        """Writes a value; returns its place.

        Raises:
          DataError: there is no room for it.
        """
        data = self._dumps(value)
        data = data.encode() if isinstance(data, str) else data
        place = (self.end, len(data))
        try:
            self.file.write(data)
        except OSError as error:
            raise DataError(
                f"{tempfile.gettempdir()} cannot hold the annotations: {error.strerror}; name "
                "another folder by TMPDIR"
            ) from None
        self.end += len(data)
        return place

    def read(self, place: Sequence[int]) -> Any:
        """Returns the value at a place; threads may call it."""
        start, count = place
        return self._loads(os.pread(self.file.fileno(), count, self._start + start))


@dataclasses.dataclass(frozen=True)
class CocoIndex:
    """Content of a JSON file without its objects; JSON can hold all of it.

    Attributes:
      categories: id and name of each category, sorted.
      images: `file_name`, size or None, problems, and place of the objects of each image.
      errors: records that belong to no image, a line each, without the name of the file.
      count_drawn: number of objects that can be drawn.
    """

    categories: Sequence[Sequence[Any]]
    images: Sequence[Sequence[Any]]
    errors: Sequence[str]
    count_drawn: int


def indexed(path: Path, read: Callable[[Path, Spool], CocoIndex]) -> tuple[CocoIndex, Spool]:
    """Returns the index of a file and its objects, from an earlier start or by `read`.

    Raises:
      DataError: `read` does so.
    """
    if not path.exists():
        spool = Spool()
        return read(path, spool), spool
    kept_file = path.parent / cache.FOLDER / f"{path.name}.masks"
    state = {"version": [_VERSION, tf_frame.__version__], **cache.file_state(path)}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        # A cache that is lost or damaged costs time only.
        kept = _load(kept_file, state)
        if kept is not None:
            return kept
    started, spool = time.monotonic(), Spool()
    index = read(path, spool)
    if time.monotonic() - started >= cache.KEPT_AFTER_SECS:
        _save(kept_file, state, index, spool)
    return index, spool


def _load(path: Path, state: Mapping[str, Any]) -> tuple[CocoIndex, Spool] | None:
    file = open(path, "rb")  # noqa: SIM115, objects are read from it later
    line = file.readline()
    header = json.loads(line)
    data = file.read(header["index_bytes"])
    start = len(line) + len(data)
    is_whole = start + header["object_bytes"] == os.fstat(file.fileno()).st_size
    if header["state"] != state or header["crc32"] != zlib.crc32(data) or not is_whole:
        file.close()
        return None
    return CocoIndex(**json.loads(data)), Spool(file, start)


def _save(path: Path, state: Mapping[str, Any], index: CocoIndex, spool: Spool) -> None:
    data = json.dumps(dataclasses.asdict(index)).encode()
    header = {
        "state": state,
        "index_bytes": len(data),
        "object_bytes": spool.end,
        "crc32": zlib.crc32(data),
    }
    with open(spool.file.fileno(), "rb", closefd=False) as objects:
        objects.seek(0)
        chunks = iter(functools.partial(objects.read, _CHUNK_BYTES), b"")
        cache.write_whole(path, itertools.chain([json.dumps(header).encode(), b"\n", data], chunks))
