"""Makes the folder of a run and locks it, so that no other run writes to it or removes it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tf_frame import file_system
from tf_frame.checkpoint.names import check_no_pattern
from tf_frame.errors import ConfigError, writing
from tf_frame.file_lock import LockHeldError, file_lock, find_holder, is_locked
from tf_frame.text import short
from tf_frame.visible_files import find_special

if TYPE_CHECKING:
    from tf_frame.runs.setup.training_setup import TrainingSetup

# Folders of a run with files that are replaced or continued.
_SUBFOLDERS = ("tasks", "logs", "data")
_RUN_LOCK = "run.lock"
_LAUNCH_LOCK = "launch.lock"


def default_model_dir(plugin: str) -> str:
    """Returns the path of a folder under `./runs`, named after plugin and time.

    Another run may have this folder already: see `make_new_folder`.
    """
    return os.path.join("runs", f"{plugin.split(':')[-1]}-{time.strftime('%Y%m%d-%H%M%S')}")


def make_new_folder(path: str) -> str:
    """Makes the folder of a path or, if it exists, of the path with -2, -3 ...; returns its path.

    Raises:
      ConfigError: the folder cannot be written.
    """
    paths = itertools.chain([path], (f"{path}-{number}" for number in itertools.count(2)))
    return next(new for new in paths if make_writable(new))


@contextlib.contextmanager
def claimed(setup: TrainingSetup) -> Iterator[TrainingSetup]:
    """Makes the folder of a run and locks it; yields the setup, with a folder that was free.

    If the block fails before the first step of the run is complete, a folder that did not exist
    before is removed again.

    Raises:
      ConfigError: the folder cannot be written, or another run writes to it.
    """
    with contextlib.ExitStack() as stack:
        path, is_new, is_held = _claim(setup.model_dir, setup.is_default_dir, stack)
        try:
            yield dataclasses.replace(setup, model_dir=path)
        except BaseException:  # Ctrl-C, too; raised again.
            # A run that made a step has a checkpoint, at least of its begin.
            is_unused = not file_system.exists(os.path.join(path, "checkpoint"))
            if is_new and is_unused and is_held():
                _remove(path)
            raise


def _remove(path: str) -> None:
    """Removes the folder of a run that failed, which nobody can take over meanwhile."""
    place, name = os.path.split(path.rstrip("/"))
    removed = path
    # The error of the run is raised, not that of what other tasks of its job write meanwhile.
    with contextlib.suppress(OSError):
        if not file_system.is_remote(path):
            removed = os.path.join(place, f".{name}.removed-{os.getpid()}")
            os.rename(path, removed)
        file_system.remove_folder(removed)


def _claim(
    path: str, is_default: bool, stack: contextlib.ExitStack
) -> tuple[str, bool, Callable[[], bool]]:
    """Makes and locks a folder.

    Returns:
      Its path, whether it is new, and a function that tells whether it is still there.
    """
    if is_default:
        path, is_new = make_new_folder(path), True
    else:
        is_new = make_writable(path)
    # A run that failed may have removed the folder meanwhile.
    while not (is_held := stack.enter_context(_lock(path)))():
        is_new = make_writable(path)
    return path, is_new, is_held


def check_writable(path: str, option: str = "--model_dir") -> None:
    """Checks that a folder, which need not exist, can be written; changes nothing.

    Raises:
      ConfigError: the folder cannot be written.
    """
    missing, parent = [], path
    while parent and not file_system.exists(parent):
        missing.append(parent)
        parent = os.path.dirname(parent)
    try:
        make_writable(path, option)
    finally:
        for folder in missing:
            file_system.remove_if_empty(folder)


def make_writable(path: str, option: str = "--model_dir") -> bool:
    """Makes a folder unless it exists; returns whether it did not exist.

    Raises:
      ConfigError: the folder cannot be written.
    """
    check_no_pattern(path, option)
    with writing(f"{option} {short(path)}"):
        is_new = file_system.make_folder(path)
        _refuse_special(path, option)
        file_system.write_probe(path)
    return is_new


def _refuse_special(path: str, option: str) -> None:
    if file_system.is_remote(path):
        return
    for folder in (path, *(os.path.join(path, name) for name in _SUBFOLDERS)):
        special = find_special(folder) if os.path.isdir(folder) else None
        if special:
            raise ConfigError(
                f"{option} {path}: {special} is a pipe, a socket or a device, and a run that "
                "writes to it may wait for ever; remove it"
            )


@contextlib.contextmanager
def _lock(
    path: str, name: str = _RUN_LOCK, who: str = "another run is writing to"
) -> Iterator[Callable[[], bool]]:
    """Locks the folder for this process; the lock ends with the process, even if it is killed.

    Yields a function that tells whether the folder is still the one that was locked. A remote
    folder cannot be locked.

    Raises:
      ConfigError: another process holds the lock; `who` says what it does.
    """
    if file_system.is_remote(path):
        yield lambda: True
        return
    with contextlib.ExitStack() as stack:
        is_held: Callable[[], bool] = bool  # False: the folder was removed meanwhile.
        try:
            with (
                writing(f"--model_dir {short(path)}: {name}"),
                contextlib.suppress(FileNotFoundError),
            ):
                is_held = stack.enter_context(file_lock(os.path.join(path, name)))
        except LockHeldError as error:
            raise ConfigError(
                f"{who} --model_dir {short(path)} ({error.holder}); wait for it, or choose another"
            ) from None
        yield is_held


def refuse_if_busy(path: str) -> None:
    """Raises a `ConfigError` if another run holds the lock of the folder."""
    with _lock(path):
        pass


@contextlib.contextmanager
def launching(path: str) -> Iterator[None]:
    """Keeps other launchers from the folder of a job within the block.

    Raises:
      ConfigError: another launcher runs a job in the folder.
    """
    with _lock(path, _LAUNCH_LOCK, "another tf-frame launch runs its job in"):
        yield


def find_writer(path: str) -> str | None:
    """Returns the process of this machine that runs in a folder, as its lock names it; or None."""
    return None if file_system.is_remote(path) else find_holder(os.path.join(path, _RUN_LOCK))


def is_launching(path: str) -> bool:
    """Returns whether a launcher of this machine runs a job in a folder."""
    return not file_system.is_remote(path) and is_locked(os.path.join(path, _LAUNCH_LOCK))
