"""Lists, reads and deletes the profiles in a model folder; local paths need no TensorFlow.

    plugins/profile/2026_01_31_12_00_00_step_100/<host>_<task>.xplane.pb
    plugins/profile/2026_01_31_12_00_00_step_100/<host>_<task>.steps.json.gz

Captures of TensorBoard have such folders, too, and TensorBoard caches its pages in them.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from tf_frame import file_system
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling import step_profile
from tf_frame.text import brief, listed, short

_LOG = logging.getLogger("tf_frame")
XPLANE = ".xplane.pb"
# The reason why a task has no file, for the process that waits for it.
FAILURE = ".failure.txt"
_TIME = re.compile(r"\d{4}(_\d\d){5}")
# `<host>_worker_0`; TensorBoard's captures are named after a host, or a host and a port.
_TASK = re.compile(r"_([a-z]+_\d+)$")


class ProfileFolder(NamedTuple):
    """A folder with profiles: files of recorded steps (`step_profile`), and XPlane files."""

    path: str
    steps: Sequence[str]
    xplanes: Sequence[str]

    @property
    def name(self) -> str:
        """The run's name on TensorBoard's Profile tab."""
        return os.path.basename(self.path)

    @property
    def has_time(self) -> bool:
        """True if the name begins with a time, as tf-frame and TensorBoard name folders."""
        return _TIME.match(self.name) is not None


class RecordedRun(NamedTuple):
    """The name of a folder with profiles, and the recorded steps of each task."""

    name: str
    profiles: Sequence[step_profile.StepProfile]


def list_folders(model_dir: str) -> list[ProfileFolder]:
    """Returns the folders with profiles, oldest first; names without a time come before."""
    paths = file_system.files_in(os.path.join(model_dir, "plugins", "profile"))
    folders = [folder for folder in map(_read_folder, paths) if folder.steps or folder.xplanes]
    return sorted(folders, key=lambda folder: (folder.has_time, folder.name))


def _read_folder(path: str) -> ProfileFolder:
    files = file_system.files_in(path) if file_system.is_folder(path) else []
    return ProfileFolder(
        path,
        [file for file in files if file.endswith(step_profile.SUFFIX)],
        [file for file in files if file.endswith(XPLANE)],
    )


class Removed(NamedTuple):
    """A profile that was removed: its folder, and the bytes of all files in it."""

    path: str
    bytes: int


def retain(model_dir: str, keep: int, *, dry_run: bool = False) -> list[Removed]:
    """Removes all profiles but the newest, by the time in their names; returns them, oldest first.

    Folders without a capture stay, and so do folders that were renamed: their names do not begin
    with a time.

    Args:
      model_dir: the `--model_dir` of a run.
      keep: the number of profiles that stay.
      dry_run: remove nothing.

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
        return file_system.file_size(path)
    return sum(map(_bytes_in, file_system.files_in(path)))


def find_folder(model_dir: str, name: str | None = None) -> ProfileFolder:
    """Returns a folder with profiles below `model_dir` by its name; None: the newest.

    Raises:
      ConfigError: there is no such folder, or no folder `model_dir`.
    """
    file_system.require_folder(model_dir)
    folders = {folder.name: folder for folder in list_folders(model_dir)}
    if not folders:
        raise ConfigError(
            f"{short(model_dir)} has no profile, which would be in "
            f"{short(model_dir)}/plugins/profile; tf-frame run --profile_at_step 100 makes one"
        )
    if name is not None and name not in folders:
        raise ConfigError(
            f"{short(model_dir)} has no profile {brief(name)}; it has {listed(folders)}"
        )
    return folders[name if name is not None else list(folders)[-1]]


def read_recorded_run(model_dir: str, run: str | None = None) -> RecordedRun:
    """Reads the recorded steps of all tasks of a run; see `read_steps` for damaged files.

    `run` is the name of a folder below `model_dir`; None: the newest with recorded steps.

    Raises:
      ConfigError: there is no such folder, or no such run in it.
      DataError: no steps are recorded in it, or all files are damaged.
    """
    model_dir = os.path.expanduser(model_dir)
    file_system.require_folder(model_dir)
    folders = list_folders(model_dir)
    runs = {folder.name: folder.steps for folder in folders if folder.steps}
    if not runs:
        raise DataError(
            f"{short(model_dir)} has no recorded steps (plugins/profile/*/*{step_profile.SUFFIX}); "
            "record some with tf-frame profile, or with --profile_at_step"
        )
    if run is not None and run not in runs:
        similar = nearest(run, list(runs))
        hint = f"did you mean {similar}?" if similar else f"it has {', '.join(runs)}"
        raise ConfigError(
            f"--run {run}: {short(model_dir)} has no recorded steps of that name; {hint}"
        )
    name = run if run is not None else list(runs)[-1]
    if run is None and folders[-1].name != name:
        _LOG.warning("warning: %s is newer, but has no recorded steps", folders[-1].name)
    return RecordedRun(name, read_steps(runs[name]))


def read_steps(paths: Sequence[str]) -> list[step_profile.StepProfile]:
    """Reads recorded steps; if only some files are damaged, warns and leaves them out.

    Raises:
      DataError: all files are damaged.
    """
    profiles, faults = [], []
    for path in paths:
        try:
            profiles.append(step_profile.read(path))
        except DataError as error:
            faults.append(error)
    if faults and not profiles:
        raise faults[0]
    for fault in faults:
        _LOG.warning("warning: left out: %s", fault)
    return profiles


def task_name(path: str) -> str:
    """Returns the task in the name of a profile's file, such as `ps_0`; else the whole name."""
    name = os.path.basename(path).removesuffix(XPLANE).removesuffix(step_profile.SUFFIX)
    match = _TASK.search(name)
    return match[1] if match else name
