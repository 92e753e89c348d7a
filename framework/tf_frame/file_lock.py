"""`file_lock`: a lock of this machine that ends with its process, and names the process.

    with file_lock("runs/first/run.lock") as is_held:
        ...

The file holds the name of the process, and stays when the lock ends: if it were removed, one
process could lock the old file and another one a new file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from typing import IO, Any

# Looks of other processes, each of some microseconds, while a lock is taken.
_MOST_LOOKS = 10_000


class LockHeldError(Exception):
    """Another process holds a lock.

    Attributes:
      holder: such as `process 4711 on host-a`.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


def process_name(pid: int, host: str) -> str:
    """Returns the name of a process, as a lock names its holder."""
    return f"process {pid} on {host}"


@contextlib.contextmanager
def file_lock(path: str) -> Iterator[Callable[[], bool]]:
    """Locks a file, which is made if it is missing, within the block.

    Yields a function that tells whether the path still names the file that was locked: another
    process may remove its folder.

    Raises:
      LockHeldError: another process, or another block of this one, holds the lock.
      OSError: the file cannot be opened.
    """
    with open(path, "a+", encoding="utf-8") as file:
        if not _lock(file):
            raise LockHeldError(_read_holder(file))
        file.truncate(0)
        file.write(f"{process_name(os.getpid(), socket.gethostname())}\n")
        file.flush()

        def is_held() -> bool:
            with contextlib.suppress(FileNotFoundError):
                return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
            return False

        yield is_held


def find_holder(path: str) -> str | None:
    """Returns the process that holds the lock of a file; None if there is none."""
    if not is_locked(path):
        return None
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        return _read_holder(file)
    return None


def _read_holder(file: IO[str]) -> str:
    file.seek(0)
    # Empty for a moment, before the holder has written its name.
    return file.read(200).strip() or "another process"


def _lock(file: IO[str]) -> bool:
    """Locks a file; returns whether it could."""
    for _ in range(_MOST_LOOKS):
        if _flock(file, fcntl.LOCK_EX):
            return True
        if not _flock(file, fcntl.LOCK_SH):
            return False
        # A process that only looks, by `is_locked`, shares the lock for an instant.
        fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _flock(file: IO[Any], kind: int) -> bool:
    """Takes a lock; returns False if another process holds one that excludes it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: str) -> bool:
    """Returns whether a process holds the lock of a file; shares the lock for an instant."""
    with contextlib.suppress(FileNotFoundError, PermissionError), open(path, "rb") as file:
        return not _flock(file, fcntl.LOCK_SH)
    return False
