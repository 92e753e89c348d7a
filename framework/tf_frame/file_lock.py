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


class LockHeldError(Exception):
    """Another process holds a lock.

    Attributes:
      holder: such as `process 4711 on host-a`.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


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
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            # Empty for a moment, before the holder has written its name.
            raise LockHeldError(file.read(200).strip() or "another process") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()

        def is_held() -> bool:
            with contextlib.suppress(FileNotFoundError):
                return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
            return False

        yield is_held


def is_locked(path: str) -> bool:
    """Returns whether a process holds the lock of a file; shares the lock for an instant."""
    with contextlib.suppress(FileNotFoundError, PermissionError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
