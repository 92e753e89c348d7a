"""Shards of a data set: files `NAME-00000-of-00004` ...

A missing shard is an error: nobody would notice a run on part of the data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tf_frame.errors import DataError, NoDataError
from tf_frame.text import short
from tf_frame_vision.reading.folders import name_some, visible

_SHARD = re.compile(r"(?<=[-_])(\d{5})-of-(\d{5})")


def find_shards(folder: Path, patterns: Sequence[str], option: str) -> list[Path]:
    """Returns the files of the first pattern that matches any, sorted by name.

    Args:
      patterns: patterns of file names, such as `train-*`.
      option: the option that names them, such as `--input.train_pattern`.

    Raises:
      NoDataError: there is no such file.
      DataError: a shard `...-00001-of-00004` is missing, or there are two generations of
        shards.
    """
    names = visible(folder, folders=False)
    for pattern in patterns:
        _check_once(names, pattern, folder)
        paths = [folder / file for file in names if fnmatchcase(file, pattern)]
        if paths:
            _check_shards(paths, names)
            return paths
    raise NoDataError(
        f"the folder {short(folder)} has no file that is called {' or '.join(patterns)}, but"
        f" {name_some(names, 'it has no file at all')}. Say what they are called: {option} PATTERN"
    )


def _check_once(names: Sequence[str], pattern: str, folder: Path) -> None:
    """Refuses a file that is there twice, gzipped and unpacked: its records would count twice."""
    both = [name for name in names if fnmatchcase(f"{name}.gz", pattern) and f"{name}.gz" in names]
    if both and fnmatchcase(both[0], pattern):
        raise DataError(f"{short(folder)} has {both[0]} and {both[0]}.gz; remove one of the two")


def _check_shards(paths: Sequence[Path], names: Sequence[str]) -> None:
    """Refuses files `...-00001-of-00004` of two generations, or with one that is not there.

    Args:
      paths: those that are to be read.
      names: all files of the folder.
    """
    names = [name.removesuffix(".gz") for name in names]
    numbers = [_SHARD.search(path.name) for path in paths]
    if not all(numbers):
        return  # Not all files are named as shards.
    numbered = {(int(n[1]), int(n[2])) for n in numbers if n}
    totals = sorted({total for _, total in numbered})
    if len(totals) > 1:
        raise DataError(
            f"{paths[0].parent} has shards of {' and of '.join(map(str, totals))}, such as"
            f" {paths[0].name} and {paths[-1].name}; remove those that are not to be read"
        )
    first = paths[0].name.removesuffix(".gz")
    shards = [_SHARD.sub(f"{k:05d}-of-{totals[0]:05d}", first) for k in range(totals[0])]
    missing = [name for name in shards if name not in names]
    if missing:
        raise DataError(
            f"{paths[0].parent} has {totals[0] - len(missing)} of {totals[0]} shards;"
            f" {missing[0]} is missing. Copy it there, or rename those that are to be read"
        )
