"""The report of a job on the screen: output of the tasks, progress, and the end of each task."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Sequence

from tf_frame.cluster import status
from tf_frame.cluster.status import NewStatuses
from tf_frame.launch.job import EVALUATOR, Task
from tf_frame.launch.job_screen import JobScreen
from tf_frame.launch.progress import JobProgress
from tf_frame.launch.task_run import TaskRun
from tf_frame.text import columns, indented

# A failure that is further up on the screen is shown again.
_STILL_SEEN_LINES = 30


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """Number of restarts of a task, and seconds that the launcher waits.

    Attributes:
      max_restarts: deaths of each task after which it is started again.
      stop_secs: after a failure, from SIGTERM to SIGKILL.
      ps_secs: after a failure, the time that the other tasks may still need parameter servers.
      ps_leave_secs: after a signal, the time for parameter servers once the other tasks have ended.
      save_secs: after a signal to the launcher, from SIGTERM to SIGKILL: the chief saves.
      stopped_secs: time that a task may be stopped by SIGSTOP; then it is killed.
      end_secs: from the end of the chief to the end of the other tasks.
      progress_secs: between two lines of progress where there is no terminal.
      status_secs: between two looks at the status files.
      poll_secs: between two looks at the processes and their logs.
    """

    max_restarts: int = 3
    stop_secs: float = 10.0
    ps_secs: float = 1.0
    ps_leave_secs: float = 5.0
    save_secs: float = 60.0
    stopped_secs: float = 300.0
    end_secs: float = 30.0
    progress_secs: float = 30.0
    status_secs: float = 1.0
    poll_secs: float = 0.1


class JobReport:
    """Reports the lines of the tasks and the progress of a running job on a screen.

    Attributes:
      evaluated_at: time of the last status that says `evaluating`, by `time.monotonic`.
    """

    def __init__(
        self, tasks: Sequence[Task], model_dir: str, screen: JobScreen, limits: Limits
    ) -> None:
        self._screen, self._limits = screen, limits
        self._statuses = NewStatuses(model_dir)
        self._progress = JobProgress(tasks)
        self._shown = ""
        self._next_line = self._next_look = 0.0
        self.evaluated_at = 0.0

    def lines(self, task: Task, lines: Iterable[str]) -> None:
        """Shows lines of a task, without its own progress lines."""
        for line in lines:
            if not self._progress.takes(task, line):
                self._screen.task_line(task, line)

    def progress(self, *, last: bool = False) -> None:
        """Shows the progress of the job if it is time, or for the last time."""
        now = time.monotonic()
        if now < self._next_look and not last:
            return
        self._next_look = now + self._limits.status_secs
        statuses = self._statuses.read()
        if any(s.state == status.EVALUATING and s.task.startswith(EVALUATOR) for s in statuses):
            self.evaluated_at = now
        due = self._screen.is_terminal or last or now >= self._next_line
        text = self._progress.text(statuses) if due else ""
        if text and text != self._shown:
            self._shown, self._next_line = text, now + self._limits.progress_secs
            self._screen.progress(text)
        if last:
            self._screen.end_progress()


@dataclasses.dataclass(frozen=True)
class Failure:
    """Reason for the failure of a job.

    Attributes:
      text: what happened.
      run: the task that failed first; None without a single one.
      lines_shown: number of lines on the screen at that time.
    """

    text: str
    run: TaskRun | None
    lines_shown: int


def format_ends(runs: Sequence[TaskRun]) -> str:
    """Returns a line for each task: its end, restarts, seconds, and the log of a failure."""
    return columns([_row(run) for run in runs], right=(3,))


def _row(run: TaskRun) -> tuple[str, ...]:
    again = {0: "", 1: "1 restart"}.get(run.restarts, f"{run.restarts} restarts")
    log = f"log: {run.log}" if run.failed else ""
    return (str(run.task), run.end_text(), again, f"{run.seconds:.0f} s", log)


def format_failure(failure: Failure, lines_shown: int) -> str:
    """Returns the reason for a failure, with the last lines of the task if they are out of sight.

    `lines_shown` is the number of lines on the screen by now.
    """
    text = f"failed: {failure.text}"
    lines = list(failure.run.last_lines) if failure.run else []
    if not lines or lines_shown - failure.lines_shown <= _STILL_SEEN_LINES:
        return text
    return f"{text}; its last lines:\n{indented(lines, len(lines))}"
