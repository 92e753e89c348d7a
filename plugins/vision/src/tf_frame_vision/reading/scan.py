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
_VERSION = 1
# Files that a thread examines in a row, because each task of a pool costs as much as a file.
_TOGETHER = 64
_BAR_AFTER_SECS = 1.0
_KEPT_AFTER_SECS = 0.5
_Key = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Problem:
    """Result of a file that cannot be used.

    Attributes:
      reason: a clause about the file, such as `it is missing`.
    """

    reason: str


def scan(
    root: Path,
    names: Sequence[str],
    examine: Callable[[Path], Any],
    *,
    kind: str,
    options: Any = None,
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

    Returns:
      The result of each name, or a `Problem`.
    """
    states = [_state(root, name) for name in names]
    cache = _Cache(root, kind, options)
    kept = cache.read()
    results = [state if isinstance(state, Problem) else None for state in states]
    missing: list[int] = []
    for place, (name, state) in enumerate(zip(names, states, strict=True)):
        entry = kept.get(name)
        if entry is not None and entry[0] == state:
            results[place] = entry[1]
        elif results[place] is None:
            missing.append(place)
    if missing:
        done, started = 0, time.monotonic()
        try:
            for result in _examined([root / names[place] for place in missing], examine, kind):
                results[missing[done]] = result
                done += 1
        finally:
            # Ctrl-C keeps the results so far.
            fresh = {names[place]: (states[place], results[place]) for place in missing[:done]}
            if time.monotonic() - started >= _KEPT_AFTER_SECS:
                cache.write({**kept, **fresh})
    return results


def _state(root: Path, name: str) -> _Key | Problem:
    """Returns size and time of modification of a file."""
    try:
        status = os.stat(os.path.join(root, name))
    except FileNotFoundError:
        return Problem("it is missing")
    except (OSError, ValueError) as error:
        return Problem(f"it cannot be read: {getattr(error, 'strerror', None) or error}")
    return status.st_size, status.st_mtime_ns


def _examined(paths: Sequence[Path], examine: Callable[[Path], Any], kind: str) -> Iterator[Any]:
    """Yields the results in their order, with a progress bar on a terminal."""

    def examine_some(some: Sequence[Path]) -> list[Any]:
        fresh = [_encoded(examine(path)) for path in some]
        return [_decoded(result) for result in json.loads(json.dumps(fresh))]

    blocks = [paths[start : start + _TOGETHER] for start in range(0, len(paths), _TOGETHER)]
    with ThreadPoolExecutor() as pool, _bar(len(paths), kind) as bar:
        for results in pool.map(examine_some, blocks):
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
    return {"problem": result.reason} if isinstance(result, Problem) else [result]


def _decoded(result: Any) -> Any:
    return Problem(result["problem"]) if isinstance(result, dict) else result[0]


class _Cache:
    """The file of the results of a kind.

    Args:
      root, kind, options: see `scan`.
    """

    def __init__(self, root: Path, kind: str, options: Any) -> None:
        self._root = root
        self._path = root / FOLDER / f"{kind}.scan"
        self._options = options

    def read(self) -> dict[str, tuple[_Key, Any]]:
        """Returns state and result of each name; empty without a valid cache."""
        try:
            with open(self._path, "rb") as file:
                header, data = json.loads(file.readline()), file.read()
            if header != self._header(data):
                return {}
            names, sizes, times, results = json.loads(data)
            states = zip(sizes, times, strict=True)
            decoded = map(_decoded, results)
            return dict(zip(names, zip(states, decoded, strict=True), strict=True))
        except (OSError, ValueError, TypeError, RecursionError):
            # Lost or damaged, which costs time only.
            return {}

    def write(self, entries: dict[str, tuple[Any, Any]]) -> None:
        """Writes the entries of files that still exist; several processes may do so at once."""
        if cache_folder(self._root / self._path.name, needed=False) is None:
            return
        present = [name for name in entries if os.path.exists(os.path.join(self._root, name))]
        states = [entries[name][0] for name in present]
        results = [_encoded(entries[name][1]) for name in present]
        columns = (present, [size for size, _ in states], [ns for _, ns in states], results)
        data = json.dumps(columns, separators=(",", ":")).encode()
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
