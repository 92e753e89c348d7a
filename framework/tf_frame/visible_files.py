"""Files that belong to a data set: neither hidden files nor files of an operating system.

`predict` and the inputs of the plugins list folders with these functions.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

# Windows, the Finder's archives, and Synology's index of pictures.
_SYSTEM = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", "__macosx", "@eadir"})


def is_hidden(name: str) -> bool:
    """Returns whether a file or folder is hidden, or of an operating system.

    Names with a dot in front include `.DS_Store`, `.ipynb_checkpoints` and the `._NAME` files that
    macOS writes next to each file of a foreign disk.
    """
    return name.startswith(".") or name.casefold() in _SYSTEM


def walk_files(folder: str, *, skip: Collection[str] = ()) -> Iterator[str]:
    """Yields the visible files below a folder: its own by name, then those of each sub-folder.

    A link to a folder is followed, but no folder is read twice.

    Args:
      folder: begins the paths.
      skip: real paths of folders that are left out.

    Raises:
      OSError: a folder cannot be read; its `filename` names the folder.
    """
    yield from _walk(folder, set(skip))


def _walk(folder: str, seen: set[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    with os.scandir(folder) as entries:
        visible = sorted(
            (entry for entry in entries if not is_hidden(entry.name)), key=lambda entry: entry.name
        )
    yield from (entry.path for entry in visible if entry.is_file())
    for entry in visible:
        if entry.is_dir():
            yield from _walk(entry.path, seen)
