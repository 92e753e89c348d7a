"""Examines the files of a data folder, in parallel, and keeps the results for later starts.

    results = scan(root, ["a.png", "b/c.png"], examine, kind="headers")
    sizes = [result for result in results if not isinstance(result, Problem)]

The results of all runs that share the data are in one file of the hidden folder of `record_cache`:

    root/.tf_frame/KIND.scan   a line of JSON: version, options, checksum; then the results

A result counts while size and time of modification of its file are the same. A damaged cache, or
one of another version or of other options, is made anew. Nothing is kept of a scan that takes less
than half a second, or without permission to write.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import logging
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tf_frame_vision.reading.record_cache import FOLDER, cache_folder

_LOG = logging.getLogger("tf_frame")
_VERSION = 2
# Files that a thread examines in a row, because each task of a pool costs as much as a file.
_TOGETHER = 64
_BAR_AFTER_SECS = 1.0
_KEPT_AFTER_SECS = 0.5
_NANOSECONDS = 2**80
_NOTHING = object()
# Reason of a file that does not exist.
MISSING = "it is missing"


@dataclasses.dataclass(frozen=True)
class Problem:
    """Result of a file that cannot be used.

    Attributes:
      reason: a clause about the file, such as `it is missing`.
    """

    reason: str


_Key = int | Problem


def scan(
    root: Path,
    names: Sequence[str],
    examine: Callable[[Path], Any],
    *,
    kind: str,
    options: Any = None,
    beside: Sequence[str] = (),
) -> list[Any]:
    """Examines files, unless an earlier start has already done so.

    Args:
      root: the data folder.
      names: paths below the folder; a path may occur twice.
      examine: from a path to a result, which JSON can hold, or a `Problem`. Threads call it. A
        tuple becomes a list, so that fresh results equal kept ones.
      kind: the kind of examination: in the name of the cache, and in the progress bar.
      options: everything else that results depend on, such as the version of `examine`, in a form
        that JSON can hold.
      beside: a second file for each name, which results depend on as well; empty: there is none.

    Returns:
      The result of each name, or a `Problem`.
    """
    keys = [_key(root, name) for name in names]
    if beside:
        keys = [_joined(key, _key(root, name)) for key, name in zip(keys, beside, strict=True)]
    cache = _Cache(root, kind, options)
    kept = cache.read()
    results: list[Any] = [kept.find(place, names[place], key) for place, key in enumerate(keys)]
    missing = [place for place, result in enumerate(results) if result is _NOTHING]
    if missing:
        done, started = 0, time.monotonic()
        try:
            for result in _examined(root, [names[place] for place in missing], examine, kind):
                results[missing[done]] = result
                done += 1
        finally:
            # Ctrl-C keeps the results so far.
            if time.monotonic() - started >= _KEPT_AFTER_SECS:
                fresh = missing[:done]
                cache.write(
                    kept,
                    _Entries(
                        [names[place] for place in fresh],
                        [keys[place] for place in fresh],
                        [results[place] for place in fresh],
                    ),
                )
    return results


def _key(root: Path, name: str) -> _Key:
    """Returns size and time of modification of a file as one number, or why there are none."""
    try:
        status = os.stat(os.path.join(root, name))
    except FileNotFoundError:
        return Problem(MISSING)
    except (OSError, ValueError) as error:
        return Problem(f"it cannot be read: {getattr(error, 'strerror', None) or error}")
    return status.st_size * _NANOSECONDS + status.st_mtime_ns


def _joined(key: _Key, second: _Key) -> _Key:
    if isinstance(key, Problem) or isinstance(second, Problem):
        return key if isinstance(key, Problem) else second
    return key * _NANOSECONDS**2 + second


def _examined(
    root: Path, names: Sequence[str], examine: Callable[[Path], Any], kind: str
) -> Iterator[Any]:
    """Yields the results in their order, with a progress bar on a terminal."""

    def examine_some(start: int) -> list[Any]:
        some = names[start : start + _TOGETHER]
        fresh = [_encoded(examine(root / name)) for name in some]
        return [_decoded(result) for result in json.loads(json.dumps(fresh))]

    with ThreadPoolExecutor() as pool, _bar(len(names), kind) as bar:
        for results in pool.map(examine_some, range(0, len(names), _TOGETHER)):
            bar.update(len(results))
            yield from results


def _bar(count: int, kind: str) -> Any:
    return tqdm(
        total=count,
        unit="file",
        desc=f"checking {kind}",
        dynamic_ncols=True,
        delay=_BAR_AFTER_SECS,
        disable=not sys.stderr.isatty(),
    )


def _encoded(result: Any) -> Any:
    """Returns the form of a result in the cache; an object is a problem, or holds the result."""
    if isinstance(result, Problem):
        return {"problem": result.reason}
    return {"result": result} if isinstance(result, dict) else result


def _decoded(result: Any) -> Any:
    if not isinstance(result, dict):
        return result
    return Problem(result["problem"]) if "problem" in result else result["result"]


class _Entries:
    """Results that are kept; many of them, so that each takes little memory.

    Attributes:
      names: of the files.
      keys: of the files when they were examined.
      results: of each file.
    """

    def __init__(self, names: list[str], keys: list[_Key], results: list[Any]) -> None:
        self.names, self.keys, self.results = names, keys, results
        self._places: dict[str, int] | None = None

    def find(self, place: int, name: str, key: _Key) -> Any:
        """Returns the result of a file, `_NOTHING` without one that is valid.

        Args:
          place: where the file is likely to be.
          name: the file.
          key: its present key; a `Problem` is the result.
        """
        if isinstance(key, Problem):
            return key
        if place >= len(self.names) or self.names[place] != name:
            if self._places is None:
                self._places = {known: number for number, known in enumerate(self.names)}
            place = self._places.get(name, -1)
        return self.results[place] if place >= 0 and self.keys[place] == key else _NOTHING

    def without(self, names: Sequence[str]) -> _Entries:
        """Returns the entries of other files."""
        absent = set(names)
        places = [k for k, name in enumerate(self.names) if name not in absent]
        return _Entries(*([column[k] for k in places] for column in self.columns()))

    def columns(self) -> tuple[list[Any], ...]:
        """Returns names, keys and results."""
        return self.names, self.keys, self.results


class _Cache:
    """The file of the results of a kind.

    Args:
      root, kind, options: see `scan`.
    """

    def __init__(self, root: Path, kind: str, options: Any) -> None:
        self._root = root
        self._path = root / FOLDER / f"{kind}.scan"
        self._options = options

    def read(self) -> _Entries:
        """Returns the entries; none without a valid cache."""
        try:
            with open(self._path, "rb") as file:
                header, data = json.loads(file.readline()), file.read()
            if header == self._header(data):
                names, keys, results = json.loads(data)
                return _Entries(names, keys, [_decoded(result) for result in results])
        except (OSError, ValueError, TypeError, RecursionError):
            _LOG.debug("%s is lost or damaged, which costs time only", self._path)
        return _Entries([], [], [])

    def write(self, kept: _Entries, fresh: _Entries) -> None:
        """Writes fresh and kept entries of files that still exist.

        Several processes may do so at once.
        """
        if cache_folder(self._root / self._path.name, needed=False) is None:
            return
        old = kept.without(fresh.names)
        columns = [
            [*one, *other] for one, other in zip(old.columns(), fresh.columns(), strict=True)
        ]
        exist = [os.path.exists(os.path.join(self._root, name)) for name in columns[0]]
        names, keys, results = (list(itertools.compress(column, exist)) for column in columns)
        text = json.dumps((names, keys, [*map(_encoded, results)]), separators=(",", ":"))
        data = text.encode()
        partial = self._path.with_suffix(f".{os.getpid()}")
        try:
            partial.write_bytes(json.dumps(self._header(data)).encode() + b"\n" + data)
            partial.replace(self._path)
        except OSError as error:
            _LOG.info("no results of %s are kept: %s", self._root, error)
            with contextlib.suppress(OSError):
                partial.unlink()

    def _header(self, data: bytes) -> Any:
        header = {"version": _VERSION, "options": self._options, "crc32": zlib.crc32(data)}
        return json.loads(json.dumps(header))
