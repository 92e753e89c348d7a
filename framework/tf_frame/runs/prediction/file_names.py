"""Files of `tf-frame predict`: input files, output folder, names of the output files.

No prediction overwrites an input or another prediction, although files in different folders may
have the same name.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tf_frame.errors import ConfigError, DataError, writing
from tf_frame.text import short
from tf_frame.visible_files import walk_files


def list_files(paths: Iterable[str], suffixes: Sequence[str], *, output: str = "") -> list[str]:
    """Lists files, and the files of folders ordered by name; each path once.

    Reads folders with their sub-folders, such as one for each class, except hidden ones.

    Args:
      paths: files, with any name, and folders.
      suffixes: suffixes in lower case of the files to take from a folder; empty for all
        files that are not hidden.
      output: a folder to skip, such as the output of an earlier prediction.

    Raises:
      DataError: a path does not exist, or a folder contains no such file.
    """
    files: dict[str, str] = {}
    for path in map(os.path.expanduser, paths):
        if not os.path.exists(path):
            raise DataError(f"--input {short(path)}: there is no such file or folder")
        for file in _list_folder(path, suffixes, output) if os.path.isdir(path) else [path]:
            files.setdefault(_identity(file), file)
    return list(files.values())


def _identity(file: str) -> str:
    """Returns a path that is the same however a folder is named; a link is a file of its own."""
    folder, name = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(folder), name)


def _list_folder(folder: str, suffixes: Sequence[str], output: str) -> list[str]:
    endings = tuple(suffixes) or ("",)
    # `check_output` refuses an output that is the folder itself.
    skip = {os.path.realpath(output)} - {os.path.realpath(folder)} if output else set()
    try:
        paths = list(walk_files(folder, skip=skip))
    except OSError as error:
        place = error.filename or folder
        raise DataError(
            f"--input {short(folder)}: {place} cannot be read: {error.strerror}"
        ) from None
    files = [path for path in paths if path.lower().endswith(endings)]
    if files:
        return files
    condition = f"ends in {', '.join(suffixes)}" if suffixes else "is a file"
    raise DataError(
        f"--input {short(folder)}: nothing in this folder and its sub-folders {condition}; name "
        "another folder, or the files"
    )


def check_output(folder: str, files: Iterable[str]) -> None:
    """Creates the folder of the predictions and refuses the folder of an input.

    Raises:
      ConfigError: the folder contains an input, or cannot be created or written to.
    """
    if os.path.realpath(folder) in {os.path.realpath(os.path.dirname(file)) for file in files}:
        raise ConfigError(
            f"--output {short(folder)} is the folder of an --input, whose files must not change; "
            "choose another folder"
        )
    with writing(f"--output {short(folder)}"):
        os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"--output {short(folder)} cannot be written to; choose another folder")


# Names of file systems end at 255 bytes; endings and names of unfinished files need room.
_MOST_BYTES = 200


class OutputNames:
    """Makes a unique file name for each example.

    The name is the name of the example's file without suffix. Files with the same name get the
    folders where they differ (`a/x.png` and `b/x.png` become `a_x` and `b_x`), then the suffix
    (`x_jpg`), and at last a number (`x-2`). Later files that are not in `files` get their folder
    (`x`, then `b_x`).

    Args:
      files: files of the examples, if they are known.
    """

    def __init__(self, files: Sequence[str] = ()) -> None:
        self._unique = _unique_names(files)
        self._taken: set[str] = set()

    def __call__(self, example: str) -> str:
        """Returns the name of the next example, which has a path or another name."""
        unique = self._unique.get(example)
        candidates = [unique] if unique else _candidates(example)
        numbered = (f"{candidates[-1]}-{number}" for number in itertools.count(2))
        name = next(n for n in itertools.chain(candidates, numbered) if n not in self._taken)
        self._taken.add(name)
        return name


def _candidates(example: str) -> list[str]:
    """Returns possible names, the best one first."""
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
    """Returns a name without characters that a file name cannot have, and not too long for one."""
    plain = name.replace("\0", "").replace("/", "_").replace("\\", "_").lstrip(".") or "unnamed"
    encoded = os.fsencode(plain)
    if len(encoded) <= _MOST_BYTES:
        return plain
    # The end of a path says more than its beginning, without the rest of a character that is cut.
    return os.fsdecode(encoded[-_MOST_BYTES:].lstrip(bytes(range(0x80, 0xC0))))
