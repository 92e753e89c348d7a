"""Folders and files of data sets, with errors before training starts that say what to do."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.text_file import normal_name
from tf_frame.visible_files import list_entries, walk_files

_HIDDEN = "hidden and system files"
_SOME = 3
_ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar")


def existing_folder(folder: str | Path, option: str, what_to_do: str) -> Path:
    """Returns the folder as a path, with `~` expanded.

    Args:
      folder: its path, as the user gave it.
      option: the option that names it, such as `--input.data_dir`.
      what_to_do: a sentence without its full stop.

    Raises:
      DataError: it is not given, does not exist, or is no folder.
    """
    if not str(folder):
        raise DataError(f"{option} is not given. {what_to_do}.")
    path = Path(folder).expanduser()
    if path.name.lower().endswith(_ARCHIVES) and path.is_file():
        raise DataError(f"{short(path)} ({option}) is no folder; unpack it and give its folder")
    if not path.is_dir():
        # A run of another folder may have named it from there.
        where = "" if path.is_absolute() else f" in {short(Path.cwd())}"
        raise DataError(
            f"the folder {short(path)} ({option}) does not exist{where}, or is not a folder. "
            f"{what_to_do}."
        )
    return path


@contextlib.contextmanager
def naming_unreadable() -> Iterator[None]:
    """Names the file or folder of the data that the block cannot read.

    Raises:
      DataError: there is one.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise DataError(f"{error.filename} cannot be read: {error.strerror}") from None


def visible(folder: Path, *, folders: bool, left_out: Counter[str] | None = None) -> list[str]:
    """Returns the names of a folder's folders or files, sorted, without hidden and system files.

    Args:
      folder: the folder.
      folders: whether to list folders, else files.
      left_out: counts hidden and system files.

    Raises:
      DataError: it cannot be read.
    """
    try:
        entries, hidden = list_entries(folder)
    except OSError as error:
        raise DataError(f"the folder {short(folder)} cannot be read: {error.strerror}") from None
    _count_hidden(hidden, left_out)
    return [entry.name for entry in entries if entry.is_dir() == folders]


def files_below(
    folder: Path, suffixes: Sequence[str], left_out: Counter[str] | None = None
) -> list[str]:
    """Returns the files below a folder and its sub-folders, as `tf-frame predict` finds them.

    Args:
      folder: the folder.
      suffixes: endings of the files in lower case; a file may have them in upper case.
      left_out: counts other files by their ending, and hidden files.

    Returns:
      Paths below the folder: its own files by name, then the files of each sub-folder.

    Raises:
      DataError: a folder cannot be read.
    """
    hidden: list[str] = []
    begin = len(os.path.join(folder, ""))
    try:
        names = [path[begin:] for path in walk_files(os.fspath(folder), left_out=hidden)]
    except OSError as error:
        place = error.filename or folder
        raise DataError(f"the folder {place} cannot be read: {error.strerror}") from None
    _count_hidden(hidden, left_out)
    if left_out is not None:
        other_names = (name for name in names if not name.lower().endswith(tuple(suffixes)))
        left_out.update(Path(name).suffix.lower() or "without suffix" for name in other_names)
    return [name for name in names if name.lower().endswith(tuple(suffixes))]


def _count_hidden(names: Sequence[str], left_out: Counter[str] | None) -> None:
    if left_out is not None and names:
        left_out[_HIDDEN] += len(names)


def left_out_notes(left_out: Mapping[str, int]) -> list[str]:
    """Returns a line with the number of files of each kind that are left out, if there are any."""
    kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(left_out.items()))
    return [f"files that are left out: {kinds}"] if kinds else []


def name_some(names: Sequence[str], nothing: str = "nothing") -> str:
    """Returns the first names of a list, for a message."""
    more = len(names) - _SOME
    return ", ".join(names[:_SOME]) + (f" and {more} more" if more > 0 else "") or nothing


def first_existing(folder: Path, names: Sequence[str]) -> Path | None:
    """Returns the path of the first of these names that the folder has, or None."""
    return next((folder / name for name in names if (folder / name).exists()), None)


@dataclasses.dataclass(frozen=True)
class SplitOptions:
    """Option of inputs that find the parts of the data by their names."""

    eval_split: str = option(
        "val",
        "the part to evaluate: val, called val, valid, validation or dev; or test, which is not "
        "used otherwise",
        choices=("val", "test"),
    )


# Of the option `eval_fraction` of inputs.
ALL_EVALUATED = "1: all are evaluated, by tf-frame evaluate with other data than the run's"


@dataclasses.dataclass(frozen=True)
class FractionOptions:
    """Option of all that hold out images where the data has no part to evaluate: `held_out`."""

    eval_fraction: float = option(
        0.1,
        "part of the images that is held out for evaluation, where nothing else says which; 0: "
        "none, nothing is evaluated",
        min=0.0,
        max=0.9,
    )


@dataclasses.dataclass(frozen=True)
class HeldOutOptions(SplitOptions, FractionOptions):
    """Options of inputs that find a part to evaluate, or hold out images."""

    eval_fraction: float = option(
        0.1,
        "part of the images that is held out for evaluation, where nothing else says which; 0: "
        f"none, nothing is evaluated; {ALL_EVALUATED}",
        min=0.0,
        max=1.0,
    )


class Division(NamedTuple):
    """The names of images to train on, and of those to evaluate."""

    training: frozenset[str]
    evaluation: frozenset[str]


def divide_names(names: Sequence[str], fraction: float) -> Division:
    """Divides names; with a fraction of 1 all are in both parts: nothing is trained with them."""
    every = frozenset(names)
    if fraction == 1:
        return Division(every, every)
    evaluation = held_out(names, fraction)
    return Division(every - evaluation, evaluation)


def held_out(names: Sequence[str], fraction: float) -> frozenset[str]:
    """Chooses names by their hashes, so that names added later hardly change the choice.

    Args:
      names: at least one is left; if there are two or more, at least one is chosen.
      fraction: part of the names; 0: none.
    """
    count = max(1, round(len(names) * fraction)) if fraction else 0

    def digest(name: str) -> bytes:
        return hashlib.sha1(normal_name(name).encode("utf-8", "surrogateescape")).digest()

    return frozenset(sorted(names, key=digest)[: min(count, len(names) - 1)])
