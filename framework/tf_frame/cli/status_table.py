"""Output of `tf-frame status`: a table for a terminal, and JSON for programs."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Sequence
from typing import Any

from tf_frame.cluster import status
from tf_frame.cluster.status import TaskStatus
from tf_frame.launch.job import CHIEF
from tf_frame.launch.progress import job_rate
from tf_frame.launch.watchdog import is_there
from tf_frame.text import columns

_SILENT_SECS = 30.0
_OVER = (status.ENDED, status.FAILED)
_HEADING = ("TASK", "STATE", "HEARTBEAT", "STEP", "RUNS/S", "STALENESS", "PROCESS")


def table(folder: str, found: Sequence[TaskStatus], now: float | None = None) -> str:
    """Returns a line for the job and one for each task.

    Args:
      folder: the folder of the run.
      found: its statuses.
      now: seconds since 1970; default: the time.
    """
    now = time.time() if now is None else now
    rows = [_HEADING, *(_row(each, now) for each in _in_order(found))]
    return f"{folder}: {_job_text(found)}\n{columns(rows, right=(3, 4, 5))}"


def as_json(found: Sequence[TaskStatus], now: float | None = None) -> list[dict[str, Any]]:
    """Returns the statuses, with their age and whether the process is alive (None: not known)."""
    now = time.time() if now is None else now
    return [
        {
            **dataclasses.asdict(each),
            "heartbeat_age_secs": round(now - each.time, 3),
            "silent": _is_silent(each, now),
            "alive": is_alive(each),
        }
        for each in _in_order(found)
    ]


def is_alive(task: TaskStatus) -> bool | None:
    """Returns whether the process of a task is there; None if it is on another machine."""
    return is_there(task.pid) if task.host == socket.gethostname() else None


def _in_order(found: Sequence[TaskStatus]) -> list[TaskStatus]:
    """The chief first, then by type and number."""

    def key(each: TaskStatus) -> tuple[bool, str, int]:
        kind, _, index = each.task.rpartition("-")
        return kind != CHIEF, kind, int(index) if index.isdigit() else 0

    return sorted(found, key=key)


def _job_text(found: Sequence[TaskStatus]) -> str:
    steps = [each.step for each in found if each.step is not None]
    last = max((each.max_steps for each in found if each.max_steps is not None), default=None)
    rate = job_rate(each for each in found if each.state not in _OVER)
    if not steps:
        return "no step yet"
    of = "" if last is None else f" of {last}"
    return f"step {max(steps)}{of}" + ("" if rate is None else f", {rate:.2f} steps/s")


def _row(task: TaskStatus, now: float) -> tuple[str, ...]:
    return (
        task.task,
        task.state,
        _heartbeat(task, now),
        "-" if task.step is None else str(task.step),
        _number(task.runs_per_sec),
        _number(task.staleness),
        _process(task),
    )


def _is_silent(task: TaskStatus, now: float) -> bool:
    return task.state not in _OVER and now - task.time > _SILENT_SECS


def _heartbeat(task: TaskStatus, now: float) -> str:
    # A clock of another machine may be ahead.
    age = f"{max(now - task.time, 0):.0f} s"
    return f"no heartbeat for {age}" if _is_silent(task, now) else f"{age} ago"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _process(task: TaskStatus) -> str:
    alive = is_alive(task)
    state = "" if alive is None else ", alive" if alive else ", gone"
    return f"pid {task.pid} on {task.host}{state}"
