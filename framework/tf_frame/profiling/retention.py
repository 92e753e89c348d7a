"""Removes old profiles, so that a training with many profiles does not fill the disk.

removed = retain("runs/first", keep=3)
"""

from __future__ import annotations

from typing import NamedTuple

from tf_frame import file_system
from tf_frame.profiling.profile_folders import list_folders


class Removed(NamedTuple):
    """A profile that was removed.

    Attributes:
      path: its folder.
      bytes: of all files in it.
    """

    path: str
    bytes: int


def retain(model_dir: str, keep: int, *, dry_run: bool = False) -> list[Removed]:
    """Removes all profiles but the newest, by the time in their names.

    Folders without a capture stay, and so do folders that were renamed: their names do not begin
    with a time.

    Args:
      model_dir: the `--model_dir` of a run.
      keep: the number of profiles that stay.
      dry_run: remove nothing.

    Returns:
      The removed profiles, oldest first; with `dry_run` the profiles that would be removed.

    Raises:
      OSError: a folder cannot be removed.
    """
    paths = [folder.path for folder in list_folders(model_dir) if folder.has_time]
    removed = [Removed(path, _bytes_in(path)) for path in paths[: max(len(paths) - keep, 0)]]
    for profile in () if dry_run else removed:
        file_system.remove_folder(profile.path)
    return removed


def _bytes_in(path: str) -> int:
    if not file_system.is_folder(path):
        return file_system.size_of(path)
    return sum(map(_bytes_in, file_system.files_in(path)))
