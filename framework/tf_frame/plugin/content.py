"""Hashes the content of an installed package: its entry points and its files.

The hash covers the files that an import would load now, wherever on the path they are. Edits in an
editable install or in site-packages therefore change the hash. So does a copy that hides the
installed files. Nothing is imported.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distribution as distribution_of

from tf_frame.plugin.modules import find_root, target_module

# The hash of a larger file is the hash in RECORD, if the file is the installed one.
_LARGE_BYTES = 2**20
# Files that installers and Python write, which differ between installs of the same package.
_GENERATED = re.compile(r"\.pyc$|__pycache__|\.(dist|egg)-info\b|^\.\.|^__editable__|^/")


def content_hash(name: str) -> str:
    """Returns the hash of an installed package's entry points and files."""
    distribution = distribution_of(name)
    targets = sorted(
        (point.group, point.name, point.value)
        for point in distribution.entry_points
        if point.group.startswith("tf_frame.")
    )
    total = hashlib.sha256(repr(targets).encode())
    recorded = _recorded(distribution)
    files = _files(distribution, [value for *_, value in targets], recorded)
    for key, path in sorted(files.items()):
        installed = str(distribution.locate_file(key))
        total.update(f"\0{key}\0{_file_hash(path, installed, recorded.get(key, ''))}".encode())
    return total.hexdigest()


def _recorded(distribution: Distribution) -> dict[str, str]:
    """Returns name -> hash of the files in RECORD.

    The RECORD of an editable install has no files, only the path of the source.
    """
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    return {row[0]: row[1] for row in rows if not _GENERATED.search(row[0])}


def _files(
    distribution: Distribution, targets: Iterable[str], recorded: Mapping[str, str]
) -> dict[str, str]:
    """Returns name -> path of the files in RECORD and of the files below the targets' roots."""
    modules = set(filter(None, map(target_module, targets)))
    if not recorded:
        modules.update((distribution.read_text("top_level.txt") or "").split())
    roots = _roots(modules, recorded)
    installed = {key: str(distribution.locate_file(key)) for key in recorded}
    # The root may be another folder than the installed one, and lack recorded files.
    expected = {
        key: root + key[len(name) :]
        for name, root in roots
        for key in recorded
        if key.startswith(f"{name}/")
    }
    return installed | expected | {key: path for root in roots for key, path in _below(*root)}


def _roots(modules: Iterable[str], recorded: Iterable[str]) -> Sequence[tuple[str, str]]:
    """Returns name and path of the packages and single modules that imports would load."""
    plugin_modules = {module for module in modules if module.split(".")[0] != "tf_frame"}
    tops = {module.split(".")[0] for module in plugin_modules}
    # A namespace has no root, but its packages and modules have.
    spaces = tuple(f"{top}/" for top in tops if not find_root(top)[1])
    within = [key for key in recorded if spaces and key.startswith(spaces)]
    plugin_modules |= {key.split(".")[0].replace("/", ".") for key in within}
    return [root for root in {find_root(module) for module in plugin_modules} if root[1]]


def _below(name: str, root: str) -> Iterator[tuple[str, str]]:
    """Yields name and path of each file in a package's folder, or of a single module."""
    if not os.path.isdir(root):
        yield name, root
        return
    for path in _walk(root):
        key = name + path[len(root) :]
        if not _GENERATED.search(key):
            yield key, path


def _walk(folder: str, above: tuple[tuple[int, int], ...] = ()) -> Iterator[str]:
    """Yields the path of each file below a folder; follows links, as imports do."""
    try:
        status, names = os.stat(folder), os.listdir(folder)
    except OSError:  # Imports cannot read the folder either.
        return
    identity = status.st_dev, status.st_ino
    for name in names if identity not in above else ():
        path = os.path.join(folder, name)
        if name.startswith(".") or name == "__pycache__":
            continue
        if os.path.isdir(path):
            yield from _walk(path, (*above, identity))
        elif os.path.isfile(path):
            yield path


def _file_hash(path: str, installed: str, recorded: str) -> str:
    """Returns the hash of a file; for a large installed file, the recorded hash."""
    try:
        if recorded and os.path.getsize(path) > _LARGE_BYTES and _is_same(path, installed):
            return recorded
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:  # Imports cannot read the file either.
        return "missing"


def _is_same(path: str, installed: str) -> bool:
    return path == installed or (os.path.exists(installed) and os.path.samefile(path, installed))
