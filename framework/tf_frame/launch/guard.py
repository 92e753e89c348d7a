"""Starts the watchdog, and tells it what to end if this process is killed."""

from __future__ import annotations

import contextlib
import subprocess
import sys

from tf_frame.launch import watchdog


class Guard:
    """The watchdog of this launcher; see `watchdog`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def started(self, group: int) -> None:
        """Says that a process group is there."""
        self._tell(f"+{group}\n")

    def ended(self, group: int) -> None:
        """Says that a process group has ended."""
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """Ends the watchdog; no process group must be left."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin
        with contextlib.suppress(OSError):  # Without a watchdog the job goes on.
            self._process.stdin.write(line)
            self._process.stdin.flush()
