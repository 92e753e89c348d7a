"""Finding the folders and files of data, with errors that say what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError


def existing_folder(folder: str | Path, option: str, what_to_do: str) -> Path:
    """The folder, expanded.

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
    if not path.is_dir():
        raise DataError(
            f"the folder {path} ({option}) does not exist, or is not a folder. {what_to_do}."
        )
    return path


def visible(folder: Path, *, folders: bool) -> list[str]:
    """Names in a folder in their order: of its folders or of its files, without hidden ones.

    Raises:
      DataError: it cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir() == folders
            )
    except OSError as error:
        raise DataError(f"the folder {folder} cannot be read: {error.strerror}") from None


def one_of(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of these names that the folder has."""
    return next((folder / name for name in names if (folder / name).exists()), None)
