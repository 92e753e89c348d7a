"""The progress of a job in one line, from the status files of its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tf_frame.cluster import status
from tf_frame.cluster.status import TaskStatus
from tf_frame.launch.job import CHIEF, Task

# The lines of `hooks.progress.ProgressHook`, which a task shows where it has no terminal.
_NUMBER = r"(?:-?\d[\d.]*(?:e[+-]\d+)?|-?inf|nan)"
_OF_TASK = re.compile(
    rf"step (?P<step>\d+)/(?P<max>\d+)  (?P<loss>\S.* {_NUMBER})"
    r"(?:  [\d.]+ steps/s  [\d.]+ examples/s(?:  [^ ]+ GFLOP/s(?: \(\d+ %\))?)?  [\d:]+ left"
    r"(?:  (?P<input>input \d+ %))?)?"
)


class JobProgress:
    """Progress of the tasks of a job, from statuses that they have written in this job."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._names = {str(task) for task in tasks}
        self._loss = ""
        self._last_line = ""
        self._waiting: dict[str, str] = {}

    def takes(self, task: Task, line: str) -> bool:
        """Returns whether a line of a task is its progress, which need not be shown again."""
        match = _OF_TASK.fullmatch(line)
        if match:
            self._waiting[str(task)] = f" {match['input']}" if match["input"] else ""
        if match and (task.type == CHIEF or not self._last_line):
            self._loss, self._last_line = match["loss"], line
        return bool(match)

    def text(self, statuses: Iterable[TaskStatus]) -> str:
        """Returns the line of the job; empty before the first progress."""
        current = [s for s in statuses if s.task in self._names]
        step = max((s.step for s in current if s.step is not None), default=None)
        if step is None:
            # Before the first status, or in a folder without status files.
            return self._last_line
        last = _last_step(current)
        parts = [
            # A worker that updates by itself may pass the last step.
            f"step {step}" if last is None else f"step {min(step, last)}/{last}",
            self._loss,
            *_rate_texts(step, current),
            self._tasks_text(current),
        ]
        return "  ".join(filter(None, parts))

    def _tasks_text(self, statuses: Iterable[TaskStatus]) -> str:
        """Steps per second of each task and its wait for input; else its state."""
        texts = []
        for task in statuses:
            if task.state == status.TRAINING and task.runs_per_sec is not None:
                waiting = self._waiting.get(task.task, "")
                texts.append(f"{task.task} {task.runs_per_sec:.2f}/s{waiting}")
            elif task.state not in (status.TRAINING, status.SERVING):
                texts.append(f"{task.task} {task.state}")
        return f"({', '.join(texts)})" if texts else ""


def _last_step(statuses: Iterable[TaskStatus]) -> int | None:
    return max((s.max_steps for s in statuses if s.max_steps is not None), default=None)


def job_rate(statuses: Iterable[TaskStatus]) -> float | None:
    """Returns the global steps per second of the chief, or else of another task."""
    by_chief_first = sorted(statuses, key=lambda s: not s.task.startswith(CHIEF))
    rates = (s.steps_per_sec for s in by_chief_first if s.steps_per_sec is not None)
    return next(rates, None)


def _rate_texts(step: int, statuses: list[TaskStatus]) -> list[str]:
    rate, last = job_rate(statuses), _last_step(statuses)
    if rate is None:
        return []
    texts = [f"{rate:.2f} steps/s"]
    if last is not None and rate > 0 and step < last:
        texts.append(f"{_clock((last - step) / rate)} left")
    return texts


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
