"""Filters of export folders, of `tensorflow_estimator.python.estimator.gc`.

A filter takes and returns a sorted list of `Path`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf


class Path(NamedTuple):
    """A folder and the number of its export."""

    path: str
    export_version: Any


Filter = Callable[[Sequence[Path]], list[Path]]


def _largest_export_versions(n: int) -> Filter:
    """Returns a filter that keeps the largest numbers."""

    def keep(paths: Sequence[Path]) -> list[Path]:
        numbered = [path for path in paths if path.export_version is not None]
        return sorted(sorted(numbered, key=lambda path: path.export_version)[-n:] if n else [])

    return keep


def _one_of_every_n_export_versions(n: int) -> Filter:
    """Returns a filter that keeps the largest number of each interval [0, n], (n, 2n], ..."""

    def keep(paths: Sequence[Path]) -> list[Path]:
        last: dict[int, Path] = {}
        for path in paths:
            if path.export_version is not None:
                interval = max(0, (path.export_version - 1) // n)
                last[interval] = max(last.get(interval, path), path, key=lambda p: p.export_version)
        return sorted(last.values())

    return keep


def _mod_export_version(n: int) -> Filter:
    """Returns a filter that keeps multiples of a number."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def _union(lf: Filter, rf: Filter) -> Filter:
    """Returns a filter that keeps the paths that either filter keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def _negation(f: Filter) -> Filter:
    """Returns a filter that keeps the paths that another filter drops."""
    return lambda paths: sorted({*paths} - {*f(paths)})


def _get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Returns the paths in a folder, with their numbers.

    Args:
      base_dir: the folder.
      parser: returns a `Path` with its number, or None for a path to leave out.
    """
    base = os.fsdecode(base_dir)
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(base)]
    parsed = (parser(Path(os.path.join(base, name), None)) for name in names)
    return sorted(path for path in parsed if path)
