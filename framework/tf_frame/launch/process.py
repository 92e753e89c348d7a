"""A task of a job as a process on this machine: start, output and end."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO

from tf_frame.errors import TfFrameError, writing
from tf_frame.launch.job import Task
from tf_frame.text import short

# The words of a program that runs a task; the words of the job follow.
PROGRAM = (sys.executable, "-m", "tf_frame")
_READ_BYTES = 1 << 20
_LONGEST = 2000
# Colours, movements of the cursor and other control characters, which would spoil a shared screen.
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskCommand:
    """Program with arguments, environment and log file of a task; no `cpus`: all cores."""

    task: Task
    words: Sequence[str]
    environment: Mapping[str, str]
    cpus: Sequence[int] = ()
    log: str


class TaskProcess:
    """The process of a task, in a session of its own: Ctrl-C reaches only the launcher.

    The process writes its log itself, so that nothing is lost if the launcher is killed. `started`
    is called with the process group after the start.

    Attributes:
      tail: the new lines of the log.
      pid: number of the process, and of its group.
      start_time: time of the start, by `time.monotonic`.

    Raises:
      ConfigError: the log cannot be written.
      TfFrameError: the system starts no more processes.
    """

    def __init__(self, command: TaskCommand, started: Callable[[int], None]) -> None:
        self._ended = False
        self.start_time = time.monotonic()
        with _log_file(command.log) as log:
            self.tail = LogTail(command.log)
            self._process = _start(command, log)
        self.pid = self._process.pid
        started(self.pid)
        if command.cpus:
            with contextlib.suppress(OSError):  # It has ended already.
                # The process has imported nothing yet, so that all its threads inherit the cores.
                os.sched_setaffinity(self.pid, command.cpus)

    def exit_code(self) -> int | None:
        """Returns the exit code, a signal as a negative number; None while the process runs.

        Other processes of its group end with it.
        """
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if not self._ended and os.waitid(os.P_PID, self.pid, how) is not None:
            # Until `wait` the number of the process still names its group.
            self.kill()
            self._process.wait()
            self._ended = True
        return self._process.returncode if self._ended else None

    def terminate(self) -> None:
        """Asks the process to save and to stop."""
        if not self._ended:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process and all processes that it has started, at once."""
        if not self._ended:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)


def _start(command: TaskCommand, log: int) -> subprocess.Popen[bytes]:
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
    with writing(short(path)):
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        if os.fstat(number).st_size:
            os.write(number, time.strftime("== %Y-%m-%d %H:%M:%S: started again ==\n").encode())
        yield number
    finally:
        os.close(number)


class LogTail:
    """Lines that another process adds to a file, whatever bytes it writes.

    Of a line with carriage returns only the text after the last one counts, as on a terminal. A
    line that is too long to read is cut. No line needs more memory than `_READ_BYTES`.

    Args:
      path: an existing file, which is read from its present end.
    """

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close().
        self._file.seek(0, 2)
        self._partial = b""
        self._left_out = 0  # Bytes of the partial line that were dropped.

    def lines(self) -> list[str]:
        """Returns the lines that were completed since the last call."""
        return self._split_lines(self._file.read(_READ_BYTES))

    def rest(self) -> list[str]:
        """Returns the lines up to the end of the file, also a last one that is not complete."""
        lines: list[str] = []
        while data := self._file.read(_READ_BYTES):
            lines += self._split_lines(data)
        return [*lines, self._take()] if self._partial else lines

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _split_lines(self, data: bytes) -> list[str]:
        lines = []
        *complete, partial = data.split(b"\n")
        for part in complete:
            self._add(part)
            lines.append(self._take())
        self._add(partial)
        return lines

    def _add(self, data: bytes) -> None:
        self._partial += data
        # Text that a progress bar has overwritten is dropped. The last byte may belong to "\r\n".
        start = self._partial.rfind(b"\r", 0, -1)
        if start >= 0 and self._partial[start + 1 :] != b"\r":
            self._partial, self._left_out = self._partial[start + 1 :], 0
        most = 4 * _LONGEST  # Bytes of a character in UTF-8.
        if len(self._partial) > most:
            self._left_out += len(self._partial) - most
            self._partial = self._partial[:most]

    def _take(self) -> str:
        raw, left_out = self._partial, self._left_out
        self._partial, self._left_out = b"", 0
        text = raw.decode(errors="replace").rstrip("\r\n")
        text = _CONTROL.sub("", text.rpartition("\r")[2])
        more = len(text) - _LONGEST
        if more <= 0 and not left_out:
            return text
        return f"{text[:_LONGEST]} ... (cut; the log has all of it)"
