"""A task of a job as a process on this machine: how it is started, watched and ended."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.launch.job import Task
from tf_frame.launch.log_tail import LogTail

# The words of a program that runs a task, without those of the job.
PROGRAM = (sys.executable, "-m", "tf_frame")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskCommand:
    """Command line, environment and log of a task.

    Attributes:
      task: the task.
      words: the program with its arguments.
      environment: all variables of its environment.
      cpus: the cores on which its threads run; empty for all.
      log: path of the file that gets what it writes.
    """

    task: Task
    words: Sequence[str]
    environment: Mapping[str, str]
    cpus: Sequence[int] = ()
    log: str


class TaskProcess:
    """The process of a task, in a session of its own: Ctrl-C reaches only the launcher.

    Its output goes to the log by itself, so that nothing is lost if the launcher is killed.

    Args:
      command: what to start.
      started: called with the process group once it is there.

    Attributes:
      tail: what it adds to the log.
      start_time: when it was started, of `time.monotonic`.

    Raises:
      ConfigError: the log cannot be written.
      TfFrameError: the system starts no more processes.
    """

    def __init__(self, command: TaskCommand, started: Callable[[int], None]) -> None:
        self._ended = False
        self.start_time = time.monotonic()
        with _log_file(command.log) as log:
            self.tail = LogTail(command.log)
            self._process = _started(command, log)
        self._pid = self._process.pid
        started(self._pid)
        if command.cpus:
            with contextlib.suppress(OSError):  # It has ended already.
                # It has not imported anything yet, so that all its threads inherit them.
                os.sched_setaffinity(self._pid, command.cpus)

    def exit_code(self) -> int | None:
        """Returns how the process ended, a signal as a negative number; None while it runs.

        What it has left in its process group ends with it.
        """
        if not self._ended and self._has_ended():
            # Before the process is forgotten, so that its number is still that of its group.
            self.kill()
            self._process.wait()
            self._ended = True
        return self._process.returncode if self._ended else None

    def terminate(self) -> None:
        """Asks the process to save and to stop."""
        if not self._ended:
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process and all that it has started, at once."""
        if not self._ended:
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)

    @property
    def pid(self) -> int:
        """Number of the process, and of its group."""
        return self._pid

    def _has_ended(self) -> bool:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._pid, how) is not None


def _started(command: TaskCommand, log: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command.words,
            env=command.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    except OSError as error:
        raise TfFrameError(f"{command.task} cannot be started: {error.strerror}") from None


@contextlib.contextmanager
def _log_file(path: str) -> Iterator[int]:
    """The log of a task, opened to append, as each of its processes continues it."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    try:
        if os.fstat(number).st_size:
            os.write(number, time.strftime("== %Y-%m-%d %H:%M:%S: started again ==\n").encode())
        yield number
    finally:
        os.close(number)
