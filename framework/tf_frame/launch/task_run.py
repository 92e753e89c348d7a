"""A task over the length of a job: its processes one after the other, and what they said."""

from __future__ import annotations

import collections
import signal
import time
from collections.abc import Callable

from tf_frame.launch.outcome import EXIT_LOST_PEERS, end_text
from tf_frame.launch.process import TaskCommand, TaskProcess

_LAST_LINES = 15
# Exit codes of a process that SIGTERM ended, and of one that saved before.
_OF_SIGTERM = (-signal.SIGTERM, 128 + signal.SIGTERM)
# A process that lives shorter is started again only after a while, twice as long each time.
_LONG_SECS = 10.0
_FIRST_DELAY_SECS = 0.5
_LONGEST_DELAY_SECS = 10.0
# A task that lost the others may be early to see the end of the job.
_REJOIN_SECS = 2.0
# So often in a row a task may lose the others shortly after its start.
_MOST_SHORT_REJOINS = 20


class TaskRun:
    """A task of a running job.

    Args:
      command: what starts the task.
      started, ended: called with a process group when it starts, and when it has ended.

    Attributes:
      restarts: how often it was started again, for whatever reason.
      deaths: how often it died, and was started again.
      exit_code: how its last process ended; None while one runs, or will be started.
      last_lines: the last lines of its log.
      end_time: when its last process ended, of `time.monotonic`.
    """

    def __init__(
        self, command: TaskCommand, started: Callable[[int], None], ended: Callable[[int], None]
    ) -> None:
        self.task, self.log = command.task, command.log
        self._command, self._started, self._ended = command, started, ended
        self._begin = self.end_time = time.monotonic()
        self._process: TaskProcess | None = None
        self._next_start = 0.0
        self._short_in_a_row = 0
        self._asked_to_stop = self._dismissed = False
        self.restarts = self.deaths = 0
        self.exit_code: int | None = None
        self._last_code: int | None = 0
        self.last_lines: collections.deque[str] = collections.deque(maxlen=_LAST_LINES)

    @property
    def seconds(self) -> float:
        """From the start of its first process to the end of its last, or until now."""
        end = time.monotonic() if self.exit_code is None else self.end_time
        return end - self._begin

    def start(self) -> None:
        """Starts a process.

        Raises:
          ConfigError: the log cannot be written.
        """
        self._process = TaskProcess(self._command, self._started)

    def start_if_due(self) -> None:
        """Starts the process that `restart` has asked for, if it is time."""
        waits = self.exit_code is None and self._process is None
        if waits and time.monotonic() >= self._next_start:
            self.start()

    def new_lines(self) -> list[str]:
        """Returns what it has written since the last call."""
        return self._noted(self._process.tail.lines()) if self._process else []

    def poll(self) -> int | None:
        """Returns the exit code of a process that has ended since the last call, else None."""
        code = self._process.exit_code() if self._process else None
        if code is not None:
            self.exit_code, self.end_time = code, time.monotonic()
        return code

    def finish(self) -> list[str]:
        """Forgets the process that has ended; returns the last of what it wrote."""
        assert self._process is not None
        lines = self._noted(self._process.tail.rest())
        self._process.tail.close()
        self._ended(self._process.pid)
        lasted = self.end_time - self._process.start_time
        self._short_in_a_row = 0 if lasted > _LONG_SECS else self._short_in_a_row + 1
        self._process = None
        return lines

    def restart(self, *, counts: bool) -> float:
        """Has another process started.

        Args:
          counts: whether the last process died.

        Returns:
          The seconds until it starts.
        """
        self.restarts += 1
        self.deaths += counts
        delay = 0.0 if counts else _REJOIN_SECS
        if self._short_in_a_row > 1:
            doubled = _FIRST_DELAY_SECS * 2 ** min(self._short_in_a_row - 2, 10)
            delay = min(max(doubled, delay), _LONGEST_DELAY_SECS)
        self._next_start = time.monotonic() + delay
        self._last_code, self.exit_code = self.exit_code, None
        return delay

    def loses_others_again_and_again(self) -> bool:
        """Returns whether it does so shortly after each of many starts."""
        return self.exit_code == EXIT_LOST_PEERS and self._short_in_a_row > _MOST_SHORT_REJOINS

    def cancel(self) -> None:
        """Drops a start that `restart` has asked for."""
        if self.exit_code is None and self._process is None:
            self.exit_code = self._last_code

    def terminate(self) -> None:
        """Asks its process to save and to stop."""
        if self._process:
            self._asked_to_stop = True
            self._process.terminate()

    def kill(self) -> None:
        """Ends its process, and all that it has started, at once."""
        if self._process:
            self._process.kill()

    def dismiss(self) -> None:
        """Ends a process that nobody needs any more; that is no failure of the task."""
        self._dismissed = True
        self.kill()

    @property
    def failed(self) -> bool:
        """True if it ended otherwise than well, or than it was asked to."""
        return bool(self.exit_code) and not self._has_stopped()

    def end_text(self) -> str:
        """Returns how it ended in words."""
        if self.exit_code is None:
            return "has not ended"
        return "stopped" if self._has_stopped() else end_text(self.exit_code)

    def _has_stopped(self) -> bool:
        return self._dismissed or (self._asked_to_stop and self.exit_code in (0, *_OF_SIGTERM))

    def _noted(self, lines: list[str]) -> list[str]:
        self.last_lines.extend(lines)
        return lines
