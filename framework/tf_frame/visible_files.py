"""Files that belong to a data set: neither hidden files nor files of an operating system.

`predict` and the inputs of the plugins list folders with these functions.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator
from typing import BinaryIO

# Windows, the Finder's archives, and Synology's index of pictures.
_SYSTEM = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", "__macosx", "@eadir"})


def is_hidden(name: str) -> bool:
    """Returns whether a file or folder is hidden, or of an operating system.

    Names with a dot in front include `.DS_Store`, `.ipynb_checkpoints` and the `._NAME` files that
    macOS writes next to each file of a foreign disk.

    Args:
      name: the name, without its folder.
    """
    return name.startswith(".") or name.casefold() in _SYSTEM


def open_to_read(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a file; a pipe among the data, which nobody may ever write to, is refused.

    The pipe of a command (`<(gunzip -c a.gz)`) is named `/dev/fd/63`, and is read.

    Args:
      path: the file.

    Raises:
      OSError: the file cannot be opened, or is a pipe, a socket or a device.
    """
    mode = os.stat(path).st_mode
    is_file = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    if not is_file and not os.fspath(path).startswith("/dev/"):
        raise OSError(errno.EINVAL, "it is a pipe or a device and no file", os.fspath(path))
    return open(path, "rb")


def find_special(folder: str | os.PathLike[str]) -> str | None:
    """Returns a pipe, a socket or a device directly in a folder; None if there is none.

    Opening one to write may wait for ever. Links are not followed.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            mode = entry.stat(follow_symlinks=False).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
                return entry.path
    return None


def list_entries(folder: str | os.PathLike[str]) -> tuple[list[os.DirEntry[str]], list[str]]:
    """Returns the visible files and folders of a folder by name, and the names of all else.

    Pipes and sockets are neither: reading one would wait forever.

    Raises:
      OSError: the folder cannot be read.
    """
    visible, left_out = [], []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if is_hidden(entry.name) or not _is_file_or_folder(entry):
                left_out.append(entry.name)
            else:
                visible.append(entry)
    return visible, left_out


def _is_file_or_folder(entry: os.DirEntry[str]) -> bool:
    # A link to nothing is an entry: whoever reads it says that it is broken.
    return entry.is_file() or entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry))


def walk_files(
    folder: str, *, skip: Collection[str] = (), left_out: list[str] | None = None
) -> Iterator[str]:
    """Yields the visible files below a folder: its own files, then the files of sub-folders.

    The order is by name. A link to a folder is followed, but no folder is read twice.

    Args:
      folder: begins the paths.
      skip: real paths of folders that are not read.
      left_out: receives the names of hidden files and folders.

    Raises:
      OSError: a folder cannot be read; its `filename` names the folder.
    """
    yield from _walk(folder, set(skip), [] if left_out is None else left_out)


def _walk(folder: str, seen: set[str], left_out: list[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    entries, hidden = list_entries(folder)
    left_out += hidden
    yield from (entry.path for entry in entries if not entry.is_dir())
    for entry in entries:
        if entry.is_dir():
            yield from _walk(entry.path, seen, left_out)
