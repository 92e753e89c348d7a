"""Puts on the screen what the tasks of a job say, and how far the job is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from tf_frame.cluster import status
from tf_frame.cluster.status import read_statuses
from tf_frame.launch.job import EVALUATOR, Task
from tf_frame.launch.job_screen import JobScreen
from tf_frame.launch.limits import Limits
from tf_frame.launch.progress import JobProgress


class JobReport:
    """Reports the lines and the progress of a running job.

    Args:
      tasks: the tasks.
      model_dir: the folder of the run, with the status files.
      screen: where to show it.
      limits: how often to look and to tell.

    Attributes:
      evaluated_at: when the evaluator was last seen to evaluate, of `time.monotonic`.
    """

    def __init__(
        self, tasks: Sequence[Task], model_dir: str, screen: JobScreen, limits: Limits
    ) -> None:
        self._model_dir, self._screen, self._limits = model_dir, screen, limits
        self._progress = JobProgress(tasks, since=time.time())
        self._shown = ""
        self._next_line = self._next_look = 0.0
        self.evaluated_at = 0.0

    def lines(self, task: Task, lines: Iterable[str]) -> None:
        """Shows what a task has written, but for its own progress."""
        for line in lines:
            if not self._progress.takes(task, line):
                self._screen.task_line(task, line)

    def progress(self, *, last: bool = False) -> None:
        """Shows the progress of the job if it is time, or for the last time."""
        now = time.monotonic()
        if now < self._next_look and not last:
            return
        self._next_look = now + self._limits.status_secs
        statuses = read_statuses(self._model_dir)
        if any(s.state == status.EVALUATING and s.task.startswith(EVALUATOR) for s in statuses):
            self.evaluated_at = now
        due = self._screen.is_terminal or last or now >= self._next_line
        text = self._progress.text(statuses) if due else ""
        if text and text != self._shown:
            self._shown, self._next_line = text, now + self._limits.progress_secs
            self._screen.progress(text)
        if last:
            self._screen.end_progress()
