"""`RunRecord`: the facts of a run for a table of many runs, read from the files in its folder."""

from __future__ import annotations

import dataclasses
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.cluster.status import TASKS_FOLDER, read_status
from tf_frame.errors import DataError
from tf_frame.run_folders import CONFIGURATION
from tf_frame.runs.records.evaluations import best_evaluation, read_evaluations
from tf_frame.runs.records.state import RunState, find_state
from tf_frame.text_file import read_text

NO_STEP, DAMAGED = "no step", "damaged"
_BLOCK = re.compile(r"\n(?=[A-Za-z_])")


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """The facts of a run.

    Attributes:
      folder: its folder.
      state: see `RunState`; `no step`: it wrote no status; `damaged`: a file cannot be read.
      fault: the reason, of a run that failed or is damaged; else empty.
      step, max_steps: the last global step, and the one to end at; None: unknown.
      metric: name of the main metric; empty before the first evaluation.
      best, last: its best and its last value; None: there is none, or no direction is known.
      steps_per_sec: of the run, or of its last interval.
      secs: duration of the run; None while it goes on.
      time: of the last sign of the run, seconds since 1970.
      blocks: name of an option or section -> its text in config.yaml.
    """

    folder: str
    state: str
    fault: str = ""
    step: int | None = None
    max_steps: int | None = None
    metric: str = ""
    best: float | None = None
    last: float | None = None
    steps_per_sec: float | None = None
    secs: float | None = None
    time: float = 0.0
    blocks: Mapping[str, str] = dataclasses.field(default_factory=dict)


def find_runs(folders: Sequence[str]) -> Iterator[str]:
    """Yields the folders of the runs below some folders, and these if they are runs themselves.

    Hidden folders are left out. A link to a run counts, but nothing below another link: links may
    lead in a circle. A folder that cannot be read is yielded, too, for a row that says so.
    """
    for folder in folders:
        if is_run(folder) or not _is_readable(folder):
            yield folder
            continue
        with os.scandir(folder) as entries:
            inner = sorted(entry.path for entry in entries if _is_place_of_runs(entry))
        yield from find_runs(inner)


def _is_place_of_runs(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or not entry.is_dir():
        return False
    return not entry.is_symlink() or is_run(entry.path)


def _is_readable(folder: str) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def is_run(folder: str) -> bool:
    """Returns whether a folder is that of a run."""
    marks = (os.path.join(folder, name) for name in (CONFIGURATION, TASKS_FOLDER))
    return any(map(os.path.exists, marks))


def read_record(
    folder: str, is_there: Callable[[int], bool], now: float | None = None
) -> RunRecord:
    """Reads the files of the run in a folder.

    Args:
      folder: the folder.
      is_there: returns whether a process of this machine runs.
      now: seconds since 1970; None: the present.
    """
    now = time.time() if now is None else now
    if not _is_readable(folder):
        return RunRecord(folder, DAMAGED, fault="the folder cannot be read")
    try:
        return _read(folder, is_there, now)
    except (DataError, OSError) as error:
        return RunRecord(folder, DAMAGED, fault=str(error))


def _read(folder: str, is_there: Callable[[int], bool], now: float) -> RunRecord:
    blocks, chief = _read_blocks(folder), read_status(folder)
    if chief is None:
        return RunRecord(folder, NO_STEP, blocks=blocks, time=_changed_at(folder))
    is_gone = chief.host == socket.gethostname() and not is_there(chief.pid)
    state = find_state(folder, chief, is_gone=is_gone, now=now)
    return RunRecord(
        folder,
        state.name,
        fault=chief.reason or "",
        step=state.result.get("global_step", chief.step),
        max_steps=chief.max_steps,
        time=state.result.get("time", chief.time),
        secs=state.result.get("duration_secs"),
        steps_per_sec=state.result.get("steps_per_sec", chief.steps_per_sec),
        blocks=blocks,
        **_metrics(folder, state, blocks),
    )


def _metrics(folder: str, state: RunState, blocks: Mapping[str, str]) -> dict[str, Any]:
    evaluations = read_evaluations(folder)
    if not evaluations:
        return {}
    last = evaluations[-1].metrics
    names = [name for name in state.result.get("metrics") or () if name in last] or list(last)
    metric, mode = names[0], None
    if _value(blocks, "keep_best") not in ("", "0"):
        metric = _value(blocks, "best_metric") or metric
        mode = _value(blocks, "best_mode")
    best = best_evaluation(evaluations, metric, mode if mode in ("max", "min") else None)
    return {
        "metric": metric,
        "last": last.get(metric),
        "best": best and best.metrics[metric],
    }


def _read_blocks(folder: str) -> dict[str, str]:
    """Returns the name and the text of each option and section in config.yaml."""
    path = os.path.join(folder, CONFIGURATION)
    if not file_system.exists(path):
        return {}
    blocks = (block.partition(":") for block in _BLOCK.split(f"\n{read_text(path)}")[1:])
    return {name: value.rstrip() for name, _, value in blocks}


def _value(blocks: Mapping[str, str], name: str) -> str:
    return blocks.get(name, "").strip(" '\"")


def _changed_at(folder: str) -> float:
    return os.stat(folder).st_mtime
