"""Makes the folder of a run and locks it, so that no other run writes to it or removes it."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import itertools
import os
import time
from collections.abc import Callable, Iterator

from tf_frame import file_system
from tf_frame.checkpoint.names import check_no_pattern
from tf_frame.errors import ConfigError
from tf_frame.runs.setup.training_setup import TrainingSetup


def default_model_dir(plugin: str) -> str:
    """Returns the path of a new folder under `./runs`, named after plugin and time.

    A run that starts at the same time may take this folder: see `claimed`.
    """
    start = os.path.join("runs", f"{plugin.split(':')[-1]}-{time.strftime('%Y%m%d-%H%M%S')}")
    return next(path for path in _numbered(start) if not os.path.exists(path))


def _numbered(path: str) -> Iterator[str]:
    """Yields a path, then the path with -2, -3 ..."""
    yield path
    yield from (f"{path}-{number}" for number in itertools.count(2))


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
                file_system.remove_folder(path)
            raise


def _claim(
    path: str, is_default: bool, stack: contextlib.ExitStack
) -> tuple[str, bool, Callable[[], bool]]:
    """Makes and locks a folder.

    Returns:
      Its path, whether it is new, and a function that tells whether it is still there.
    """
    is_new = make_writable(path)
    if is_default and not is_new:
        path, is_new = next(other for other in _numbered(path) if make_writable(other)), True
    # A run that failed may have removed the folder meanwhile.
    while not (is_held := stack.enter_context(_lock(path)))():
        is_new = make_writable(path) or is_new
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
    try:
        is_new = file_system.make_folder(path)
        file_system.write_probe(path)
    except OSError as error:
        raise ConfigError(
            f"{option} {path} cannot be written: {error.strerror}; choose another folder"
        ) from None
    return is_new


@contextlib.contextmanager
def _lock(path: str) -> Iterator[Callable[[], bool]]:
    """Locks the folder for this process; the lock ends with the process, even if it is killed.

    Yields a function that tells whether the folder is still the one that was locked. A remote
    folder cannot be locked.

    Raises:
      ConfigError: another run holds the lock.
    """
    if file_system.is_remote(path):
        yield lambda: True
        return
    lock_file = os.path.join(path, "run.lock")

    def is_held() -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(file.fileno()), os.stat(lock_file))
        return False

    try:
        file = open(lock_file, "a", encoding="utf-8")  # noqa: SIM115
    except FileNotFoundError:
        yield lambda: False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"another run is writing to --model_dir {path}; wait for it, or choose another"
            ) from None
        yield is_held


def refuse_if_busy(path: str) -> None:
    """Raises a `ConfigError` if another run holds the lock of the folder."""
    with _lock(path):
        pass
