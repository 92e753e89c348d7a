"""Keeps other users from writing files of a run, and refuses files that they could write.

A run obeys some files in its folder, such as a request for a profile. Other users of the machine
must not be able to write those, whatever the umask of the user.
"""

from __future__ import annotations

import os
import stat

from tf_frame.errors import DataError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def let_only_the_owner_write() -> None:
    """Makes all files and folders that this process makes from now on writable by its user alone.

    Libraries make most of them, TensorFlow's in C++ among them, so the umask of the process is what
    reaches all. Processes that it starts inherit it.
    """
    os.umask(os.umask(_OTHERS_WRITE) | _OTHERS_WRITE)


def read_own_file(path: str) -> bytes | None:
    """Returns the content of a file that this user wrote, or root; None without the file.

    Raises:
      DataError: the file is another user's, can be written by others, or is no plain file.
    """
    try:
        # The checks are of the open file: the name may be another file's a moment later.
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    with open(number, "rb") as file:
        fault = _fault(os.fstat(number))
        if fault:
            raise DataError(f"{path} is not obeyed: {fault}")
        return file.read()


def _fault(status: os.stat_result) -> str:
    """Returns why a file may be the work of another user; empty if it cannot."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no plain file"
    if status.st_uid not in (os.geteuid(), 0):
        return f"it belongs to user {status.st_uid}, and this run to {os.geteuid()}"
    if status.st_mode & _OTHERS_WRITE:
        return f"others can write it (mode {stat.S_IMODE(status.st_mode):o})"
    return ""
