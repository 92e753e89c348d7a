"""`tf-frame status`: shows the status files of the tasks of a training."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.cli.status_summary import end_facts, end_summary
from tf_frame.cluster.status import ENDED, FAILED, TaskStatus, read_statuses
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.launch.job import CHIEF
from tf_frame.launch.progress import job_rate
from tf_frame.launch.watchdog import is_there
from tf_frame.run_folders import runs_hint
from tf_frame.runs.records.state import is_silent
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import columns, short

_USAGE = """usage: tf-frame status MODEL_DIR [OPTIONS]

Shows the tasks of a training in MODEL_DIR, also of a single process: state, last heartbeat, global
step, steps/s, and whether the process is alive if it is one of this machine. RUNS/S are the steps
that a task makes itself; STALENESS is how many updates of other workers a step of it missed. Of a
run that is over it shows the end, the metrics, checkpoints and exports, and the next command."""
_JSON = Option("json", bool, False, "print JSON for programs")
OPTIONS = (_JSON,)
_OVER = (ENDED, FAILED)
_HEADING = ("TASK", "STATE", "HEARTBEAT", "STEP", "RUNS/S", "STALENESS", "PROCESS")


@folder_command(name="tf-frame status", usage=_USAGE, options=OPTIONS)
def main(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Prints the statuses; returns the exit code."""
    folder = os.path.expanduser(folders[0])
    statuses = _read(folder)
    if values.get(_JSON.name):
        report(json.dumps(status_rows(folder, statuses), indent=2))
    else:
        report(status_table(folder, statuses))
    return EXIT_OK


def _read(folder: str) -> list[TaskStatus]:
    with quiet_import():  # A remote folder needs TensorFlow.
        statuses = read_statuses(folder)
        if not statuses:
            file_system.require_folder(folder)
    if not statuses:
        raise ConfigError(
            f"{short(folder)} has no status files, which every task of a training writes from "
            f"its start{runs_hint(folder) or '; give the --model_dir of a run'}"
        )
    return statuses


def status_table(folder: str, statuses: Sequence[TaskStatus], now: float | None = None) -> str:
    """Returns a line for the job in a folder and one for each task; or how the run has ended."""
    now = time.time() if now is None else now
    first, *others = in_order = _in_order(statuses)
    is_chief = first.task.startswith(CHIEF)
    end = end_summary(folder, first, is_gone=is_alive(first) is False) if is_chief else ""
    if end and not others:
        return end
    rows = [_HEADING, *(_row(task, now) for task in in_order)]
    return f"{end or f'{folder}: {_job_text(statuses)}'}\n{columns(rows, right=(3, 4, 5))}"


def status_rows(
    folder: str, statuses: Sequence[TaskStatus], now: float | None = None
) -> list[dict[str, Any]]:
    """Returns the statuses, with their age and whether the process is alive (None: not known).

    The chief has the end of the run, too: None while it goes on.
    """
    now = time.time() if now is None else now
    return [
        {
            **dataclasses.asdict(task),
            "heartbeat_age_secs": round(now - task.time, 3),
            "silent": is_silent(task, now),
            "alive": is_alive(task),
            **(_end(folder, task) if task.task.startswith(CHIEF) else {}),
        }
        for task in _in_order(statuses)
    ]


def _end(folder: str, chief: TaskStatus) -> dict[str, Any]:
    return {"end": end_facts(folder, chief, is_gone=is_alive(chief) is False)}


def is_alive(task: TaskStatus) -> bool | None:
    """Returns whether the process of a task runs; None if it is on another machine."""
    return is_there(task.pid) if task.host == socket.gethostname() else None


def _in_order(statuses: Sequence[TaskStatus]) -> list[TaskStatus]:
    """Sorts statuses: the chief first, then by type and number."""

    def key(task: TaskStatus) -> tuple[bool, str, int]:
        kind, _, index = task.task.rpartition("-")
        return kind != CHIEF, kind, int(index) if index.isdigit() else 0

    return sorted(statuses, key=key)


def _job_text(statuses: Sequence[TaskStatus]) -> str:
    steps = [task.step for task in statuses if task.step is not None]
    last = max((task.max_steps for task in statuses if task.max_steps is not None), default=None)
    rate = job_rate(task for task in statuses if task.state not in _OVER)
    if not steps:
        return "no step yet"
    of = "" if last is None else f" of {last}"
    step = max(steps) if last is None else min(max(steps), last)
    return f"step {step}{of}" + ("" if rate is None else f", {rate:.2f} steps/s")


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


def _heartbeat(task: TaskStatus, now: float) -> str:
    # A clock of another machine may be ahead.
    age = f"{max(now - task.time, 0):.0f} s"
    return f"no heartbeat for {age}" if is_silent(task, now) else f"{age} ago"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _process(task: TaskStatus) -> str:
    alive = is_alive(task)
    state = "" if alive is None else ", alive" if alive else ", gone"
    return f"pid {task.pid} on {task.host}{state}"
