"""`RunState`: the present work of the run in a folder, or its end."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import time
from collections.abc import Mapping
from typing import Any

from tf_frame.cluster.status import ENDED, EVALUATING, FAILED, STARTING, TaskStatus
from tf_frame.errors import DataError
from tf_frame.file_lock import process_name
from tf_frame.run_folders import RESULT_FILE
from tf_frame.runs.setup.folder_claim import find_writer, is_launching
from tf_frame.side_files import as_object, read_side_file
from tf_frame.text import short

RESTARTING, SILENT, DIVERGED = "restarting", "silent", "diverged"
DONE, EARLY, GONE = "done", "ended early", "gone"
# A task writes its status every 10 s.
_SILENT_SECS = 30.0


@dataclasses.dataclass(frozen=True)
class RunState:
    """The present work of a run, or its end.

    Attributes:
      name: a state of `TaskStatus`, `restarting` or `silent` (no heartbeat) while it goes on, and
        `evaluating` after its last step; then `done`, `ended early`, `stopped by SIGNAL`, `failed`,
        `diverged`, or `gone`, for a process that ended without a result: by SIGKILL, or with its
        machine.
      is_over: whether it has ended, and no launcher begins it again.
      result: `result.json` of this run; empty without one.
      writer: the process that has begun to run in the folder, before its first status; else None.
    """

    name: str
    is_over: bool = False
    result: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    writer: str | None = None


def find_state(
    folder: str, chief: TaskStatus, *, is_gone: bool, now: float | None = None
) -> RunState:
    """Returns the state of the run in a folder.

    Args:
      folder: the folder of the run.
      chief: the status of its chief, or of its only process.
      is_gone: whether that process is known to have ended.
      now: seconds since 1970; None: the present.
    """
    writer = find_writer(folder)
    if writer not in (None, process_name(chief.pid, chief.host)):
        return RunState(STARTING, writer=writer)
    result = _result(folder, chief)
    if not (is_gone or result or chief.state == FAILED):
        if chief.state == ENDED:
            return RunState(EVALUATING)
        return RunState(SILENT if is_silent(chief, now) else chief.state)
    name = _end(chief, result)
    if name == GONE and is_launching(folder):
        return RunState(RESTARTING)
    return RunState(name, True, result)


def is_silent(task: TaskStatus, now: float | None = None) -> bool:
    """Returns whether a task that goes on has written no status for a while; `now` as above."""
    age = (time.time() if now is None else now) - task.time
    return task.state not in (ENDED, FAILED) and age > _SILENT_SECS


def _end(chief: TaskStatus, result: Mapping[str, Any]) -> str:
    if chief.state == FAILED:
        return DIVERGED if chief.diverged else FAILED
    if chief.state == ENDED and chief.reason:
        return chief.reason
    if not result:
        return GONE
    if result.get("stopped_by"):
        return f"stopped by {short(result['stopped_by'])}"
    is_done = chief.max_steps is None or result["global_step"] >= chief.max_steps
    return DONE if is_done else EARLY


def _result(folder: str, chief: TaskStatus) -> Mapping[str, Any]:
    """Returns `result.json`; empty if there is none of the run that wrote the status."""
    result = None
    if chief.state == ENDED:
        with contextlib.suppress(DataError):
            result = read_side_file(os.path.join(folder, RESULT_FILE), as_object)
    # Asynchronous workers may make steps after the last one of the chief.
    is_of_run = result and result.get("global_step", -1) >= (chief.step or 0)
    return result if result and is_of_run and result.get("time", math.inf) >= chief.time else {}
