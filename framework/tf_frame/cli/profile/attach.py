"""`tf-frame profile attach`: profiles a training that is running, without stopping it."""

from __future__ import annotations

import glob
import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli import option_help
from tf_frame.cli.profile import show
from tf_frame.cli.screen import complain, report, without_chatter
from tf_frame.cluster.status import TaskStatus, read_statuses
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError, TfFrameError
from tf_frame.profiling.request import SIGNAL, ProfileRequest, listens, write_request
from tf_frame.profiling.step_profile import SUFFIX

_USAGE = """usage: tf-frame profile attach MODEL_DIR [OPTIONS]

Asks the processes that train in MODEL_DIR, on this machine, to profile their next steps, waits for
that, and prints the report. Training goes on. Files: MODEL_DIR/plugins/profile/TIME_attach_.../"""
_ALL, _CHIEF = "all", "chief"
_STEPS = Option("steps", int, 10, "steps to profile", min=1)
_TASKS = Option(
    "tasks",
    str,
    _CHIEF,
    "the chief, or all tasks: every worker on this machine, and the parameter servers",
    choices=(_CHIEF, _ALL),
)
_TIMEOUT = Option("timeout_secs", float, 300, "seconds to wait for the profile", min=1)
_JSON = Option("json", bool, False, "print the report as JSON")
_HTML = Option("html", str, None, "write the report as a page, to this file")
OPTIONS = (_STEPS, _TASKS, _TIMEOUT, _JSON, _HTML)
_LOOK_SECS = 0.2
_WORKERS = ("chief", "worker")


class AttachError(TfFrameError):
    """No process made the profile."""


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    values, words = split_flags(argv, OPTIONS)
    parse_flags([word for word in words if word.startswith("-")], OPTIONS)
    if len(words) != 1:
        given = " ".join(words) or "none"
        raise ConfigError(f"tf-frame profile attach takes one folder, MODEL_DIR; given: {given}")
    folder = os.path.abspath(os.path.expanduser(words[0]))
    options: dict[str, Any] = {option.name: option.default for option in OPTIONS} | dict(values)
    all_tasks = options[_TASKS.name] == _ALL
    workers = _workers(folder, all_tasks=all_tasks)
    label = f"attach_{time.time_ns() // 10**6}"
    with without_chatter(None):
        write_request(folder, ProfileRequest(label, options[_STEPS.name], all_tasks))
    for task in workers.values():
        os.kill(task.pid, SIGNAL)
    if not options[_JSON.name]:
        report(f"asked {', '.join(each.task for each in workers.values())} for a profile")
    found = _wait(folder, label, workers, options[_TIMEOUT.name])
    shown = ["--json"] if options[_JSON.name] else []
    shown += [f"--html={options[_HTML.name]}"] if options[_HTML.name] else []
    return show.main([folder, "--run", os.path.basename(found), *shown])


def _workers(folder: str, *, all_tasks: bool) -> dict[str, TaskStatus]:
    """The workers to ask, by the ends of the names of their files.

    Raises:
      ConfigError: none of them can be asked.
    """
    statuses = [each for each in read_statuses(folder) if each.task.split("-")[0] in _WORKERS]
    if not statuses:
        raise ConfigError(f"{folder} has no status files of a training; give its --model_dir")
    if not all_tasks:
        statuses = [each for each in statuses if each.task.startswith("chief")]
    asked = {}
    for each in statuses:
        reason = _why_not(each)
        if reason:
            complain(f"tf-frame: {each.task} is not asked: {reason}")
        else:
            asked[f"{each.host}_worker_{each.task.split('-')[1]}"] = each
    if not asked:
        raise ConfigError(f"no process that trains in {folder} can be asked for a profile")
    return asked


def _why_not(status: TaskStatus) -> str:
    """Why a task cannot be asked; empty if it can."""
    if status.host != socket.gethostname():
        return f"it runs on {status.host}; give the command there"
    if not os.path.exists(f"/proc/{status.pid}"):
        return f"its process {status.pid} has ended"
    if not listens(status.pid):
        return f"its process {status.pid} does not train now, or is none of this tf-frame"
    return ""


def _wait(folder: str, label: str, workers: Mapping[str, TaskStatus], timeout_secs: float) -> str:
    """Waits for the files of all workers; returns their folder.

    Raises:
      AttachError: a process has ended, or the time is over.
    """
    until = time.monotonic() + timeout_secs
    while True:
        pattern = os.path.join(folder, "plugins", "profile", f"*_{label}", f"*{SUFFIX}")
        files = {os.path.basename(path).removesuffix(SUFFIX): path for path in glob.glob(pattern)}
        missing = [task for name, task in workers.items() if name not in files]
        if not missing:
            return os.path.dirname(next(iter(files.values())))
        ended = [each.task for each in missing if not os.path.exists(f"/proc/{each.pid}")]
        if ended:
            raise AttachError(f"{ended[0]} ended before it had written its profile")
        if time.monotonic() > until:
            names = ", ".join(each.task for each in missing)
            raise AttachError(
                f"no profile from {names} within {timeout_secs:g} s; its log says why, or a step "
                "takes longer than that (--timeout_secs)"
            )
        time.sleep(_LOOK_SECS)
