"""`TaskRun`: starts, restarts and stops the process of one task, and collects its output."""

from __future__ import annotations

import collections
import enum
import signal
import time
from collections.abc import Callable

from tf_frame.errors import EXIT_START_AGAIN
from tf_frame.launch.process import TaskCommand, TaskProcess
from tf_frame.launch.watchdog import process_state

# Exit codes from 128 on mean a signal, as in shells: 137 is SIGKILL, which the system sends when
# memory ends. With 127 the dynamic linker ends a process that is refused memory.
_FIRST_OF_DEATHS = 127
_LAST_LINES = 15
# Exit codes of a process after SIGTERM, without and with saving.
_OF_SIGTERM = (-signal.SIGTERM, 128 + signal.SIGTERM)
# A process that lives shorter is started again only after a delay, which doubles each time.
_LONG_SECS = 10.0
_FIRST_DELAY_SECS = 0.5
_LONGEST_DELAY_SECS = 10.0
# A task that lost its peers may not know yet that the job has ended.
_REJOIN_SECS = 2.0
# Number of times in a row that a task may lose its peers shortly after its start.
_MOST_SHORT_REJOINS = 20


class Outcome(enum.Enum):
    """Reaction of the launcher to a task that has ended."""

    DONE = "done"
    RESTART = "restart"  # It died, which counts.
    REJOIN = "rejoin"  # It lost its peers, which does not count.
    FAILED = "failed"  # It would fail again: a wrong option, an error in a plugin.


def judge_exit_code(exit_code: int) -> Outcome:
    """Returns the reaction to the end of a task while its job goes on.

    After a signal, the exit code is the negative number of the signal.
    """
    if exit_code == 0:
        return Outcome.DONE
    if exit_code == EXIT_START_AGAIN:
        return Outcome.REJOIN
    died = exit_code < 0 or exit_code >= _FIRST_OF_DEATHS
    return Outcome.RESTART if died else Outcome.FAILED


def end_text(exit_code: int) -> str:
    """Describes the end of a task, such as `was killed by SIGKILL`."""
    if exit_code == 0:
        return "ended well"
    if exit_code == EXIT_START_AGAIN:
        return "lost the other tasks"
    if exit_code > 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was killed by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was killed by signal {-exit_code}"


class TaskRun:
    """A task of a running job.

    Args:
      command: the command that starts the task.
      started, ended: called with a process group when it starts, and when it has ended.

    Attributes:
      restarts: number of restarts, for any reason.
      deaths: number of restarts after a death.
      exit_code: exit code of the last process; None while a process runs, or will be started.
      last_lines: the last lines of the log.
      end_time: end of the last process, by `time.monotonic`.
    """

    def __init__(
        self, command: TaskCommand, started: Callable[[int], None], ended: Callable[[int], None]
    ) -> None:
        self.task, self.log = command.task, command.log
        self._command, self._started, self._ended = command, started, ended
        self._begin = self.end_time = self._runs_at = time.monotonic()
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
        """Seconds from the start of the first process to the end of the last, or until now."""
        end = time.monotonic() if self.exit_code is None else self.end_time
        return end - self._begin

    def start(self) -> None:
        """Starts a process.

        Raises:
          ConfigError: the log cannot be written.
        """
        self._process = TaskProcess(self._command, self._started)

    def start_if_due(self) -> None:
        """Starts the process that `restart` has planned, if it is time."""
        waits = self.exit_code is None and self._process is None
        if waits and time.monotonic() >= self._next_start:
            self.start()

    def new_lines(self) -> list[str]:
        """Returns the lines that the task has written since the last call."""
        return self._remember(self._process.tail.lines()) if self._process else []

    def poll(self) -> int | None:
        """Returns the exit code of a process that has ended since the last call, else None."""
        code = self._process.exit_code() if self._process else None
        if code is not None:
            self.exit_code, self.end_time = code, time.monotonic()
        return code

    def finish(self) -> list[str]:
        """Forgets the process that has ended; returns its last lines."""
        assert self._process is not None
        lines = self._remember(self._process.tail.rest())
        self._process.tail.close()
        self._ended(self._process.pid)
        lasted = self.end_time - self._process.start_time
        self._short_in_a_row = 0 if lasted > _LONG_SECS else self._short_in_a_row + 1
        self._process = None
        return lines

    def restart(self, *, counts: bool) -> float:
        """Plans the start of another process; returns the seconds until then.

        A restart after a death counts.
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

    def keeps_losing_peers(self) -> bool:
        """Returns whether the task lost its peers shortly after each of many starts."""
        return self.exit_code == EXIT_START_AGAIN and self._short_in_a_row > _MOST_SHORT_REJOINS

    def stopped_secs(self) -> float:
        """Returns how long the process is stopped, as by SIGSTOP; 0 while it runs."""
        now = time.monotonic()
        if self._process is None or process_state(self._process.pid) != "T":
            self._runs_at = now
        return now - self._runs_at

    def cancel(self) -> None:
        """Drops a start that `restart` has planned."""
        if self.exit_code is None and self._process is None:
            self.exit_code = self._last_code

    def terminate(self) -> None:
        """Asks the process to save and to stop."""
        if self._process:
            self._asked_to_stop = True
            self._process.terminate()

    def kill(self) -> None:
        """Ends the process, and all processes that it has started, at once."""
        if self._process:
            self._process.kill()

    def dismiss(self) -> None:
        """Ends a process that nobody needs any more, without a failure of the task."""
        self._dismissed = True
        self.kill()

    @property
    def failed(self) -> bool:
        """True if the task ended neither well nor at a request."""
        return bool(self.exit_code) and not self._has_stopped()

    def end_text(self) -> str:
        """Describes the end of the task."""
        if self.exit_code is None:
            return "has not ended"
        return "stopped" if self._has_stopped() else end_text(self.exit_code)

    def _has_stopped(self) -> bool:
        return self._dismissed or (self._asked_to_stop and self.exit_code in (0, *_OF_SIGTERM))

    def _remember(self, lines: list[str]) -> list[str]:
        self.last_lines.extend(lines)
        return lines
