"""Status files of the tasks of a job, for `tf-frame status` and for the launcher.

Each task writes `MODEL_DIR/tasks/NAME.json`; a single process is `chief-0`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import logging
import os
import socket
import time
from collections.abc import Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.atomic_output import write_file
from tf_frame.errors import (
    EXIT_USAGE,
    DataError,
    NonFiniteError,
    TfFrameError,
    is_disk_full,
)
from tf_frame.shell_text import shell_line
from tf_frame.side_files import from_json, read_side_file
from tf_frame.text import short

_LOG = logging.getLogger("tf_frame")
TASKS_FOLDER = "tasks"
# The name of the chief, and of a single process.
_CHIEF = "chief-0"

STARTING, WAITING, TRAINING = "starting", "waiting", "training"
SERVING, EVALUATING, ENDED, FAILED = "serving", "evaluating", "ended", "failed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskStatus:
    """A line of `tf-frame status`.

    Attributes:
      task: name of the task, such as `worker-1`.
      state: one of the constants of this module.
      time: time of this status, seconds since 1970.
      pid, host: the process.
      began: start of the process, seconds since the start of its machine: numbers of processes are
        used again, and clocks are set. None outside of Linux.
      step, max_steps: the global step and the last step; None for a task without steps.
      steps_per_sec: global steps per second in the last interval; None before its end.
      runs_per_sec: steps of this task alone per second; None before the end of an interval.
      staleness: mean number of updates by other workers within a step of this worker, between
        reading the variables and the update; None before the end of an interval.
      num_workers, num_ps: tasks of the job that train, and parameter servers; None where the task
        does not train.
      reason: why the task failed or was stopped, in a line; None if it was not.
      remedy: what the error says to do, if the same command would fail again.
      diverged: whether it failed because a value was not finite.
    """

    task: str
    state: str
    time: float
    pid: int
    host: str
    began: float | None = None
    step: int | None = None
    max_steps: int | None = None
    steps_per_sec: float | None = None
    runs_per_sec: float | None = None
    staleness: float | None = None
    num_workers: int | None = None
    num_ps: int | None = None
    reason: str | None = None
    remedy: str | None = None
    diverged: bool = False


def own_status(task: str, state: str, **facts: Any) -> TaskStatus:
    """Returns a status of this process, now."""
    pid, host = os.getpid(), socket.gethostname()
    began = process_began(pid)
    return TaskStatus(
        task=task, state=state, time=time.time(), pid=pid, host=host, began=began, **facts
    )


def process_began(pid: int) -> float | None:
    """Returns the start of a process, seconds since the start of this machine; None without one."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            after_name = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    # Field 22 of proc(5), in clock ticks.
    return int(after_name[19]) / os.sysconf("SC_CLK_TCK")


def write_status(model_dir: str, status: TaskStatus) -> None:
    """Writes the status of a task; replaces the file atomically.

    On a full disk a warning is logged, once: the status is for people, and training goes on.

    Raises:
      TfFrameError: there is no such folder; a folder that was removed is not made again.
    """
    try:
        folder = file_system.make_subfolder(model_dir, TASKS_FOLDER)
        path = os.path.join(folder, f"{status.task}.json")
        write_file(path, json.dumps(dataclasses.asdict(status)) + "\n")
    except FileNotFoundError:
        raise TfFrameError(
            f"the folder {model_dir} was removed while {status.task} wrote to it"
        ) from None
    except Exception as error:
        if not is_disk_full(error):
            raise
        _warn_of_full_disk(model_dir, status.task)


@functools.cache
def _warn_of_full_disk(model_dir: str, task: str) -> None:
    _LOG.warning(
        "the disk of %s is full: tf-frame status shows old figures of %s until there is room",
        model_dir,
        task,
    )


def note_failure(model_dir: str, task: str, error: Exception) -> None:
    """Writes the failure of a task of this process, if it has trained.

    The step is the one that failed, or else the last one of the status.
    """
    mine = (s for s in read_statuses(model_dir) if s.task == task and s.pid == os.getpid())
    for status in mine:
        first, _, rest = str(error).partition("\n")
        is_of_user = isinstance(error, TfFrameError) and error.exit_code == EXIT_USAGE
        reason = short(first or type(error).__name__, 1000)
        remedy = short(" ".join(rest.split()), 1000) if rest and is_of_user else None
        step = error.step if isinstance(error, NonFiniteError) else None
        failed = dataclasses.replace(
            status,
            state=FAILED,
            time=time.time(),
            step=status.step if step is None else step,
            reason=reason,
            remedy=remedy,
            diverged=isinstance(error, NonFiniteError),
        )
        write_status(model_dir, failed)


def note_stop(model_dir: str, signal_name: str) -> None:
    """Writes that a signal has stopped the tasks of a job, after all of them have ended.

    A task that was only starting has written nothing itself, and the others know the signal that
    the launcher sent to them.
    """
    for status in read_statuses(model_dir):
        is_done = status.max_steps is not None and (status.step or 0) >= status.max_steps
        if status.state == FAILED or (status.state == ENDED and is_done):
            continue
        stopped = dataclasses.replace(status, reason=f"stopped by {signal_name}")
        if status.state != ENDED:
            # Its steps after the last checkpoint are lost.
            stopped = dataclasses.replace(stopped, state=ENDED, step=None, time=time.time())
        write_status(model_dir, stopped)


def read_status(model_dir: str, task: str = _CHIEF) -> TaskStatus | None:
    """Returns the status of a task, by default of the chief or the only process; None without one.

    Raises:
      DataError: the file is damaged.
    """
    path = os.path.join(model_dir, TASKS_FOLDER, f"{task}.json")
    return read_side_file(path, functools.partial(from_json, TaskStatus))


def read_statuses(model_dir: str) -> list[TaskStatus]:
    """Returns the statuses of all tasks that have a status file, sorted by name."""
    statuses = []
    for path in file_system.files_in(os.path.join(model_dir, TASKS_FOLDER)):
        # A file of another program or another version is no status.
        with contextlib.suppress(DataError):
            status = read_side_file(path, functools.partial(from_json, TaskStatus))
            statuses += [status] if status else []
    return statuses


def run_command(model_dir: str, words: Sequence[str], *, num_workers: int | None = None) -> str:
    """Returns the command `run` with some words, or that of `launch` for the job in a folder.

    Args:
      model_dir: the folder, whose status files say what the job is.
      words: the words after `run`.
      num_workers: tasks that train; None: as many as in the folder's job.
    """
    chief = next((s for s in read_statuses(model_dir) if s.task == _CHIEF), None)
    num_workers = num_workers or (chief and chief.num_workers) or 1
    num_ps = (chief and chief.num_ps) or 0
    run = f"run {shell_line(words)}"
    if num_workers == 1 and not num_ps:
        return f"tf-frame {run}"
    servers = f"--num_ps {num_ps} " if num_ps else ""
    return f"tf-frame launch {servers}--num_workers {num_workers} -- {run}"


class NewStatuses:
    """The statuses that tasks write after this object was made, whatever their clocks say."""

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self._before = set(read_statuses(model_dir))

    def read(self) -> list[TaskStatus]:
        """Returns the statuses that are not those of earlier."""
        return [status for status in read_statuses(self._model_dir) if status not in self._before]
