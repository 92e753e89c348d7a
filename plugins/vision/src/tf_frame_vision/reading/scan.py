"""Examines the files of a data folder, and keeps the results for later starts.

    results = scan(root, ["a.png", "b/c.png"], examine, kind="headers")
    sizes = [result for result in results if not isinstance(result, Problem)]

The results of all runs that share the data are in one file, `.tf_frame/KIND.scan` (see `cache`). A
result counts while size and time of modification of its file are the same. Nothing is kept of a
file with a problem, which may be mended without a trace, nor of a scan of less than half a second.
Where the disk is slow, many files are examined at the same time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.progress_bar import ProgressBar
from tf_frame.text import short
from tf_frame_vision.reading import cache

# Files that are examined in a row, because each task of a pool costs as much as a file.
_TOGETHER = 64
_THREADS = 16
_BAR_AFTER_SECS = 1.0
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
    partners: Sequence[str] = (),
) -> list[Any]:
    """Examines files, unless an earlier start has already done so.

    Args:
      root: the data folder.
      names: paths below the folder; a path may occur twice.
      examine: from a path to a result that JSON can hold; a tuple becomes a list, so that fresh
        results equal kept ones. Its `DataError` or `OSError` becomes a `Problem`. Threads may call
        it.
      kind: the kind of examination: in the name of the cache, and in the progress bar.
      options: everything else that results depend on, such as the version of `examine`, in a form
        that JSON can hold.
      partners: a second file for each name, which results depend on as well; empty: none.

    Returns:
      The result of each name, or a `Problem`.
    """
    keys = [_key(root, name) for name in names]
    if partners:
        keys = [_joined(key, _key(root, name)) for key, name in zip(keys, partners, strict=True)]
    path, state = root / cache.FOLDER / f"{kind}.scan", {"options": options}
    kept = _read(path, state)
    results = [kept.find(place, names[place], key) for place, key in enumerate(keys)]
    missing = [place for place, result in enumerate(results) if result is _NOTHING]
    if not missing:
        return results
    done, started = 0, time.monotonic()
    try:
        for result in _examined(root, [names[place] for place in missing], examine, kind):
            results[missing[done]] = result
            done += 1
    finally:
        # Ctrl-C keeps the results so far.
        if time.monotonic() - started >= cache.KEPT_AFTER_SECS:
            columns = _merged(root, kept, missing[:done], (names, keys, results))
            text = json.dumps(columns, separators=(",", ":"))
            cache.keep(path, state, [text.encode()])
    return results


def _key(root: Path, name: str) -> _Key:
    """Returns size and time of modification of a file as one number, or why there are none."""
    try:
        status = os.stat(os.path.join(root, name))
    except (OSError, ValueError) as error:
        return _unreadable(error)
    return status.st_size * _NANOSECONDS + status.st_mtime_ns


def _joined(key: _Key, second: _Key) -> _Key:
    if isinstance(key, Problem) or isinstance(second, Problem):
        return key if isinstance(key, Problem) else second
    return key * _NANOSECONDS**2 + second


def _unreadable(error: OSError | ValueError) -> Problem:
    if isinstance(error, FileNotFoundError):
        return Problem(MISSING)
    return Problem(f"it cannot be read: {getattr(error, 'strerror', None) or error}")


def _examined(
    root: Path, names: Sequence[str], examine: Callable[[Path], Any], kind: str
) -> Iterator[Any]:
    """Yields the results in their order, with a progress bar on a terminal."""

    def examine_some(start: int) -> list[Any]:
        some = names[start : start + _TOGETHER]
        return [_examine(examine, root / name) for name in some]

    with contextlib.ExitStack() as stack:
        bar = stack.enter_context(_bar(len(names), kind))
        started, busy = time.monotonic(), time.thread_time()
        first = examine_some(0)
        is_waiting = time.thread_time() - busy < (time.monotonic() - started) / 2
        # Threads hide the time that a slow disk takes; where there is none, they only wait for
        # each other's Python.
        apply: Any = map
        if is_waiting:
            apply = stack.enter_context(ThreadPoolExecutor(_THREADS)).map
        examined = apply(examine_some, range(_TOGETHER, len(names), _TOGETHER))
        for results in itertools.chain([first], examined):
            bar.update(len(results))
            yield from results


def _examine(examine: Callable[[Path], Any], path: Path) -> Any:
    try:
        result = examine(path)
    except DataError as error:
        text = str(error)
        return Problem(
            f"it {text.removeprefix(f'{short(path)} ')}" if f"{short(path)} " in text else text
        )
    except OSError as error:
        return _unreadable(error)
    # As a later start gets it.
    return result if isinstance(result, Problem) else json.loads(json.dumps(result))


def _bar(count: int, kind: str) -> Any:
    return ProgressBar(
        total=count,
        unit="file",
        desc=f"checking {kind}",
        delay=_BAR_AFTER_SECS,
        file=sys.stderr,
    )


class _Entries:
    """Results that are kept; many of them, so that each takes little memory.

    Args:
      names: of the files.
      keys: of the files when they were examined.
      results: of each file.
    """

    def __init__(self, names: Sequence[str], keys: Sequence[int], results: Sequence[Any]) -> None:
        self.columns = names, keys, results

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.columns[0])}

    def find(self, place: int, name: str, key: _Key) -> Any:
        """Returns the result of a file, `_NOTHING` without one that is valid.

        Args:
          place: where the file is likely to be.
          name: the file.
          key: its present key; a `Problem` is the result.
        """
        if isinstance(key, Problem):
            return key
        names, keys, results = self.columns
        if place >= len(names) or names[place] != name:
            place = self._places.get(name, -1)
        return results[place] if place >= 0 and keys[place] == key else _NOTHING


def _read(path: Path, state: Mapping[str, Any]) -> _Entries:
    data = cache.load(path, state)
    return _Entries([], [], []) if data is None else _Entries(*json.loads(bytes(data)))


def _merged(
    root: Path, kept: _Entries, places: Sequence[int], columns: tuple[Sequence[Any], ...]
) -> list[list[Any]]:
    """Returns the columns of fresh results, and of kept ones of other files that still exist.

    Args:
      places: of the fresh results in their columns.
      columns: names, keys and results.
    """
    names, _, results = columns
    fresh = {names[place] for place in places}
    old = [
        place
        for place, name in enumerate(kept.columns[0])
        if name not in fresh and os.path.exists(os.path.join(root, name))
    ]
    new = [place for place in places if not isinstance(results[place], Problem)]
    return [
        [*map(before.__getitem__, old), *map(after.__getitem__, new)]
        for before, after in zip(kept.columns, columns, strict=True)
    ]
