"""Paths of `tf-frame predict`: files to predict on, output folder, names of the output files.

They are chosen so that no prediction overwrites an input, or another prediction: files in
different folders may have the same name.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from tf_frame.errors import ConfigError, DataError


def list_files(paths: Iterable[str], suffixes: Sequence[str], *, output: str = "") -> list[str]:
    """Lists files, and the files of folders in the order of their names; each file once.

    Folders are read with their sub-folders, such as one for each class, except hidden ones.

    Args:
      paths: files, with any name, and folders.
      suffixes: suffixes in lower case of the files to take from a folder; empty for all
        files that are not hidden.
      output: a folder whose files are left out, as those of an earlier prediction.

    Raises:
      DataError: a path does not exist, or a folder contains no such file.
    """
    found: dict[str, str] = {}
    for path in map(os.path.expanduser, paths):
        for file in _files_in(path, suffixes, output) if os.path.isdir(path) else [path]:
            if not os.path.exists(file):
                raise DataError(f"--input {path}: there is no such file or folder")
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _files_in(folder: str, suffixes: Sequence[str], output: str) -> list[str]:
    endings = tuple(suffixes) or ("",)
    # An output that is the folder itself is refused by `check_output`.
    seen = {os.path.realpath(output)} - {os.path.realpath(folder)} if output else set()
    files = [path for path in _below(folder, folder, seen) if path.lower().endswith(endings)]
    if files:
        return files
    wanted = f"ends in {', '.join(suffixes)}" if suffixes else "is a file"
    raise DataError(
        f"--input {folder}: nothing in this folder and its sub-folders {wanted}; name another "
        "folder, or the files"
    )


def _below(folder: str, top: str, seen: set[str]) -> Iterator[str]:
    """Yields the files of a folder, then those of each sub-folder; links may lead in circles."""
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        raise DataError(f"--input {top}: {folder} cannot be read: {error.strerror}") from None
    paths = [os.path.join(folder, name) for name in names]
    yield from (path for path in paths if os.path.isfile(path))
    for path in paths:
        if os.path.isdir(path):
            yield from _below(path, top, seen)


def check_output(folder: str, files: Iterable[str]) -> None:
    """Creates the folder of the predictions and refuses the folder of an input.

    Raises:
      ConfigError: the folder contains an input, or cannot be created or written to.
    """
    if os.path.realpath(folder) in {os.path.realpath(os.path.dirname(file)) for file in files}:
        raise ConfigError(
            f"--output {folder} is the folder of an --input, whose files must not change; choose "
            "another folder"
        )
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--output {folder} cannot be created: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"--output {folder} cannot be written to; choose another folder")


class OutputNames:
    """Makes a unique name for each example, fit for a file.

    The name is that of the example's file without its suffix. Files with the same name
    are distinguished by the folders in which they differ (`a/x.png` and `b/x.png` become
    `a_x` and `b_x`), then by their suffixes (`x_jpg`), and at last by a number (`x-2`). Of files
    that are not known beforehand, the later ones get their folder (`x`, then `b_x`).

    Args:
      files: files whose examples will be named, as far as they are known.
    """

    def __init__(self, files: Sequence[str] = ()) -> None:
        self._wanted = _unique_names(files)
        self._taken: set[str] = set()

    def __call__(self, example: str) -> str:
        """Returns the name of the next example.

        Args:
          example: the path of its file, or another name.
        """
        known = self._wanted.get(example)
        wanted = [known] if known else _names_of(example)
        numbered = (f"{wanted[-1]}-{number}" for number in itertools.count(2))
        name = next(n for n in itertools.chain(wanted, numbered) if n not in self._taken)
        self._taken.add(name)
        return name


def _names_of(example: str) -> list[str]:
    """Returns names in falling order of preference."""
    path = PurePath(example)
    if not path.is_absolute():
        return [_plain(example)]
    return [_plain(path.stem), _plain(f"{path.parent.name}_{path.stem}")]


def _unique_names(files: Sequence[str]) -> dict[str, str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for file in files:
        groups[PurePath(file).stem].append(file)
    names: dict[str, str] = {}
    for stem, group in groups.items():
        names.update({group[0]: _plain(stem)} if len(group) == 1 else _by_folders(group))
    return names


def _by_folders(group: Sequence[str]) -> dict[str, str]:
    absolute = [os.path.abspath(file) for file in group]
    common = os.path.commonpath([os.path.dirname(path) for path in absolute])
    paths = [PurePath(os.path.relpath(path, common)) for path in absolute]
    stems = [path.with_suffix("") for path in paths]
    if len(set(stems)) < len(stems):
        stems = [path.with_name(path.name.replace(".", "_")) for path in paths]
    return {file: _plain("_".join(stem.parts)) for file, stem in zip(group, stems, strict=True)}


def _plain(name: str) -> str:
    """Returns a name without characters that a file name cannot have."""
    return name.replace("\0", "").replace("/", "_").replace("\\", "_").lstrip(".") or "unnamed"
