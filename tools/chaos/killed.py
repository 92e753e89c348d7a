"""Runs a function in a forked process, which kills itself at a chosen write or time."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf
from tensorflow.python.lib.io import file_io

LIMIT_SECS = 300
_WRITES = (
    *((os, name) for name in ("replace", "rename", "remove", "unlink", "mkdir", "rmdir")),
    *((tf.io.gfile, n) for n in ("rename", "remove", "copy", "makedirs", "mkdir", "rmtree")),
    *((file_io.FileIO, name) for name in ("write", "flush", "close")),
)


class Ended(NamedTuple):
    """The end of a process: its status as of `os.waitpid`, writes to files, seconds."""

    status: int
    writes: int
    secs: float

    @property
    def is_killed(self) -> bool:
        """Returns whether the process was killed as it was to be."""
        return os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) == signal.SIGKILL


class Writes:
    """Counts the calls that change files, and kills the process before one of them."""

    def __init__(self, fatal: int | None) -> None:
        self.count, self._fatal = 0, fatal
        for owner, name in _WRITES:
            setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def counted(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self._fatal:
                kill()
            return function(*arguments, **named)

        return counted


def kill(secs: float = 0.0) -> None:
    """Kills this process after some seconds."""
    time.sleep(secs)
    os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()  # A killed process may run on for a moment.


def run_forked(
    function: Callable[[], None],
    log: Path,
    *,
    write: int | None = None,
    secs: float | None = None,
) -> Ended:
    """Runs a function in a process of its own.

    Args:
      function: the function.
      log: file that gets the output.
      write: kills the process before this call that changes a file, counted from 1.
      secs: kills the process after this time.
    """
    began = time.monotonic()
    receiving, sending = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receiving)
        _run_and_exit(function, log, sending, write, secs)
    os.close(sending)
    with contextlib.closing(os.fdopen(receiving)) as pipe:
        text = pipe.read()
    status = os.waitpid(pid, 0)[1]
    return Ended(status, int(text or 0), time.monotonic() - began)


def _run_and_exit(
    function: Callable[[], None], log: Path, pipe: int, write: int | None, secs: float | None
) -> None:
    signal.alarm(LIMIT_SECS)
    file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    code = 1
    try:
        writes = Writes(write)
        if secs is not None:
            threading.Thread(target=kill, args=[secs], daemon=True).start()
        function()
        os.write(pipe, str(writes.count).encode())
        code = 0
    except BaseException:  # Of any kind: the process is to end here, with its traceback.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
