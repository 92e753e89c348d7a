"""`tf-frame status`: what each task of a training does now, by the status files of its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from tf_frame import file_system
from tf_frame.cli import option_help, status_table
from tf_frame.cli.screen import report, without_chatter
from tf_frame.cluster.status import TaskStatus, read_statuses
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError

_USAGE = """usage: tf-frame status MODEL_DIR [OPTIONS]

Shows the tasks of a training in MODEL_DIR, also of a single process: state, last heartbeat, global
step, steps/s, and whether the process is alive if it is one of this machine. RUNS/S are the steps
that a task makes itself; STALENESS is how many updates of other workers a step of it missed."""
_JSON = Option("json", bool, False, "print JSON for programs")
OPTIONS = (_JSON,)
_HELP = ("-h", "--help")


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in _HELP for word in argv):
        report(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    values, words = split_flags(argv, OPTIONS)
    parse_flags([word for word in words if word.startswith("-")], OPTIONS)
    if len(words) != 1:
        given = " ".join(words) or "none"
        raise ConfigError(f"tf-frame status takes one folder, MODEL_DIR; given: {given}")
    folder = os.path.expanduser(words[0])
    found = _statuses(folder)
    if values.get(_JSON.name):
        report(json.dumps(status_table.as_json(found), indent=2))
    else:
        report(status_table.table(folder, found))
    return EXIT_OK


def _statuses(folder: str) -> list[TaskStatus]:
    with without_chatter(None):  # A remote folder needs TensorFlow.
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
