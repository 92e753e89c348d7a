"""Finds files of the same content, quickly: by size, by a part of the content, then by all of it.

A copy of a training image in the evaluation makes its figures too good, and a copy under another
label teaches nothing. Only files that share their size with another one are read.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.scan import Problem, scan

# Beyond so many files, and so many of them with a size that another one has, none are compared.
_MOST_FILES, _MOST_READ = 200_000, 100_000
_PART_BYTES, _CHUNK_BYTES = 1 << 12, 1 << 20


def find_copies(root: Path, paths: Sequence[str]) -> list[list[str]] | None:
    """Returns groups of files with the same content; None if there are too many files.

    Files that cannot be read are left out.

    Args:
      root: the data folder, which keeps digests of many files for later starts.
      paths: the files, each once.

    Returns:
      Paths as in `paths`; at least two in a group.
    """
    if len(paths) > _MOST_FILES:
        return None
    candidates = [*itertools.chain.from_iterable(_alike(paths, _size))]
    if len(candidates) > _MOST_READ:
        return None
    parts = _examined(root, candidates, _part_digest, "parts")
    same_parts = [*itertools.chain.from_iterable(_alike(candidates, parts.get))]
    return _alike(same_parts, _examined(root, same_parts, _digest, "copies").get)


def _alike(paths: Sequence[str], key: Callable[[str], Hashable]) -> list[list[str]]:
    """Returns groups of several paths with the same key; paths without a key are left out."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for path in paths:
        groups[key(path)].append(path)
    groups.pop(None, None)
    return [group for group in groups.values() if len(group) > 1]


def _examined(
    root: Path, paths: Sequence[str], examine: Callable[[Path], str], kind: str
) -> Mapping[str, str]:
    """Returns the result for each file that can be read."""
    results = scan(root, [path_below(root, path) for path in paths], examine, kind=kind)
    return {
        path: result
        for path, result in zip(paths, results, strict=True)
        # Reading the examples names a file that cannot be read.
        if not isinstance(result, Problem)
    }


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size or None
    except OSError:
        return None


def _part_digest(path: Path) -> str:
    """Returns a digest of the middle and the end of a file; many files begin alike."""
    # Python's file objects take twice the time, which counts for 100,000 files of one size.
    file = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(file).st_size
        places = (size // 2, max(size - _PART_BYTES, 0))
        parts = [os.pread(file, _PART_BYTES, place) for place in places]
    finally:
        os.close(file)
    return f"{size} {hashlib.blake2b(b''.join(parts), digest_size=16).hexdigest()}"


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
