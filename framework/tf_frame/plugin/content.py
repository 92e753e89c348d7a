"""Hashes the content of an installed package: its entry points and its files.

Of the files, those count that an import would take now, wherever on the path they are, so that an
edit counts in an editable install and in site-packages, and so does a copy or a module that hides
what was installed. Nothing is imported.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distribution as distribution_of

from tf_frame.plugin.modules import find_root, target_module

# A larger file counts by its hash in RECORD, which is the one that was installed.
_LARGE_BYTES = 2**20
# Files that installers and Python write, which differ between installs of the same package.
_GENERATED = re.compile(r"\.pyc$|__pycache__|\.(dist|egg)-info\b|^\.\.|^__editable__|^/")


def content_hash(name: str) -> str:
    """Returns the hash of an installed package's entry points and files.

    Args:
      name: of the package.
    """
    distribution = distribution_of(name)
    targets = sorted(
        (each.group, each.name, each.value)
        for each in distribution.entry_points
        if each.group.startswith("tf_frame.")
    )
    total = hashlib.sha256(repr(targets).encode())
    recorded = _recorded(distribution)
    files = _files(distribution, [value for *_, value in targets], recorded)
    for key, path in sorted(files.items()):
        installed = str(distribution.locate_file(key))
        total.update(f"\0{key}\0{_hash_of_file(path, installed, recorded.get(key, ''))}".encode())
    return total.hexdigest()


def _recorded(distribution: Distribution) -> dict[str, str]:
    """Name of each file in RECORD -> its hash there; empty if there is none.

    That of an editable install has only the path of the source.
    """
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    return {row[0]: row[1] for row in rows if not _GENERATED.search(row[0])}


def _files(
    distribution: Distribution, targets: Iterable[str], recorded: Mapping[str, str]
) -> dict[str, str]:
    """Name -> path of each file: those in RECORD, and those below the roots of the targets."""
    modules = set(filter(None, map(target_module, targets)))
    if not recorded:
        modules.update((distribution.read_text("top_level.txt") or "").split())
    roots = _roots(modules, recorded)
    installed = {key: str(distribution.locate_file(key)) for key in recorded}
    # A root may be elsewhere, and what is recorded below it but is not there is missing.
    expected = {key: path for root in roots for key, path in _expected(*root, recorded)}
    return installed | expected | {key: path for root in roots for key, path in _below(*root)}


def _roots(modules: Iterable[str], recorded: Iterable[str]) -> Sequence[tuple[str, str]]:
    """Name and path of each package or single module that imports of modules would take."""
    of_plugins = {module for module in modules if module.split(".")[0] != "tf_frame"}
    tops = {module.split(".")[0] for module in of_plugins}
    # A namespace has no root of its own, but the packages and the modules in it have.
    spaces = tuple(f"{top}/" for top in tops if not find_root(top)[1])
    within = [key for key in recorded if spaces and key.startswith(spaces)]
    of_plugins |= {key.split(".")[0].replace("/", ".") for key in within}
    return [root for root in {find_root(module) for module in of_plugins} if root[1]]


def _below(name: str, root: str) -> Iterator[tuple[str, str]]:
    """Name and path of each file of a package's folder, or of a single module."""
    if not os.path.isdir(root):
        yield name, root
        return
    for path in _walk(root):
        key = name + path[len(root) :]
        if not _GENERATED.search(key):
            yield key, path


def _expected(name: str, root: str, recorded: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name, and path below a root, of each recorded file that imports look for there."""
    return ((key, root + key[len(name) :]) for key in recorded if key.startswith(f"{name}/"))


def _walk(folder: str, above: tuple[tuple[int, int], ...] = ()) -> Iterator[str]:
    """Yields the path of each file below a folder; links are followed, as imports do."""
    try:
        status, names = os.stat(folder), os.listdir(folder)
    except OSError:  # Imports find nothing in it either.
        return
    here = status.st_dev, status.st_ino
    for name in names if here not in above else ():
        path = os.path.join(folder, name)
        if name.startswith(".") or name == "__pycache__":
            continue
        if os.path.isdir(path):
            yield from _walk(path, (*above, here))
        elif os.path.isfile(path):
            yield path


def _hash_of_file(path: str, installed: str, recorded: str) -> str:
    """The hash of a file, which counts as recorded if it is the large one that was installed."""
    try:
        if recorded and os.path.getsize(path) > _LARGE_BYTES and _is_same(path, installed):
            return recorded
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:  # Nobody can import what cannot be read.
        return "missing"


def _is_same(path: str, other: str) -> bool:
    return path == other or (os.path.exists(other) and os.path.samefile(path, other))
