"""Paths that data files name, such as `file_name` of COCO: they stay in the data folder.

The data of a stranger could otherwise name any file of the account, and a model or a picture would
show its content. Links within the folder are followed, wherever they lead: whoever made the folder
on this machine made them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import existing_form

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def inside(
    root: str | Path,
    name: str,
    *,
    base: str = "",
    allow_outside: bool = False,
    source: str | Path = "",
) -> Path:
    r"""Joins a path that a data file names to the data folder.

    A path of Windows, `train\1.jpg`, is read as such, unless a file has exactly this name. Accents
    may be written as another program writes them.

    Args:
      root: the data folder.
      name: the path in the data file.
      base: the folder below the data folder that the path begins at, such as the folder of the
        data file.
      allow_outside: whether the path may be absolute or lead out of the folder.
      source: the data file, perhaps with the line, for the message.

    Raises:
      DataError: the path is absolute, leads out of the folder, or names no file.
    """
    within = name_inside(root, name, base=base, allow_outside=allow_outside, source=source)
    return existing_form(Path(os.path.normpath(os.path.join(root, within))))


def path_below(root: str | Path, path: str | Path) -> str:
    """Returns a path as it is written below a folder, with `..` if it lies elsewhere."""
    text, prefix = os.fspath(path), os.path.join(root, "")
    # `relpath` takes seconds for 100,000 files.
    return text[len(prefix) :] if text.startswith(prefix) else os.path.relpath(text, root)


def is_below(root: str | Path, path: str | Path) -> bool:
    """Returns whether a path does not lead out of a folder."""
    return os.path.relpath(path, root).split(os.sep, 1)[0] != ".."


def first_inside(
    root: str | Path,
    folders: Iterable[str | Path],
    name: str,
    *,
    allow_outside: bool,
    exists: Callable[[Path], bool] = os.path.isfile,
) -> Path | None:
    """Returns the path of a name below the first of several folders that has it; see `inside`.

    Args:
      root: the data folder; no path leads out of it.
      folders: the folders.
      name: a path in a data file.
      allow_outside: whether the path may lead out of the data folder.
      exists: whether there is a file or folder of the kind that is wanted.
    """
    for folder in folders:
        for form in (name, name.replace("\\", "/")):
            path = existing_form(Path(os.path.normpath(os.path.join(folder, form))))
            if exists(path) and (allow_outside or is_below(root, path)):
                return path
    return None


def longest_end(
    folder: Path, name: str, exists: Callable[[Path], bool] = os.path.isfile
) -> Path | None:
    """Returns the longest end of a path of another machine that is a path below a folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    ends = (existing_form(folder.joinpath(*parts[start:])) for start in range(len(parts)))
    return next(filter(exists, ends), None)


def name_inside(
    root: str | Path, name: str, *, base: str, allow_outside: bool, source: str | Path
) -> str:
    """Returns a path that a data file names as a path below the data folder; see `inside`."""
    prefix = f"{source}: " if str(source) else ""
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise DataError(f"{prefix}{brief(name)} is no path of a file")
    drive = _DRIVE.match(name)
    if "\\" in name and not os.path.lexists(os.path.join(root, base, name)):
        name = name.replace("\\", "/")
    within = os.path.normpath(os.path.join(base, name))
    if within == ".":
        raise DataError(f"{prefix}{brief(name)} is the data folder, and no file in it")
    leads_out = drive or name.startswith("/") or within.split("/", 1)[0] == ".."
    if leads_out and not allow_outside:
        raise DataError(
            f"{prefix}the path {brief(name)} leads out of the data folder {short(root)}; move "
            "the file into it, or give --input.allow_outside if you trust the data"
        )
    return within
