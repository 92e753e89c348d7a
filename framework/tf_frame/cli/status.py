"""`tf-frame status`: what each task of a training does now, by the status files of its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.cli import status_table
from tf_frame.cluster.status import TaskStatus, read_statuses
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.tensorflow_log import quiet_import

_USAGE = """usage: tf-frame status MODEL_DIR [OPTIONS]

Shows the tasks of a training in MODEL_DIR, also of a single process: state, last heartbeat, global
step, steps/s, and whether the process is alive if it is one of this machine. RUNS/S are the steps
that a task makes itself; STALENESS is how many updates of other workers a step of it missed."""
_JSON = Option("json", bool, False, "print JSON for programs")
OPTIONS = (_JSON,)


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    return folder_command(argv, _run, name="tf-frame status", usage=_USAGE, options=OPTIONS)


def _run(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    folder = os.path.expanduser(folders[0])
    found = _statuses(folder)
    if values.get(_JSON.name):
        report(json.dumps(status_table.as_json(found), indent=2))
    else:
        report(status_table.table(folder, found))
    return EXIT_OK


def _statuses(folder: str) -> list[TaskStatus]:
    with quiet_import():  # A remote folder needs TensorFlow.
        found = read_statuses(folder)
        there = bool(found) or file_system.is_folder(folder)
    if not there:
        raise ConfigError(f"{folder}: there is no such folder")
    if not found:
        raise ConfigError(
            f"{folder} has no status files, which every task of a training writes from its start; "
            "give the --model_dir of a run"
        )
    return found
