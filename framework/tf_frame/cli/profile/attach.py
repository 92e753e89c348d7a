"""`tf-frame profile attach`: profiles a training that is running, without stopping it."""

from __future__ import annotations

import contextlib
import glob
import os
import socket
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.cli.profile import show
from tf_frame.cli.profile.merge import write_merged
from tf_frame.cluster.status import SERVING, TaskStatus, process_began, read_statuses
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.output_file import check_file
from tf_frame.command_line.screen import complain, report
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError, TfFrameError, writing
from tf_frame.file_lock import LockHeldError, file_lock
from tf_frame.profiling.attach_request import (
    LOCK,
    SIGNAL,
    ProfileRequest,
    listens,
    remove_request,
    write_request,
)
from tf_frame.profiling.profile_folders import FAILURE, XPLANE, find_folder
from tf_frame.profiling.step_profile import SUFFIX
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import short

_USAGE = """usage: tf-frame profile attach MODEL_DIR [OPTIONS]

Asks the processes that train in MODEL_DIR, on this machine, to profile their next steps, waits for
that, and prints the report. Training goes on. Files: MODEL_DIR/plugins/profile/TIME_attach_.../
With --tasks all, trace.json.gz next to them has a row for every task."""
_ALL, _CHIEF = "all", "chief"
_TRACE = "trace.json.gz"
_STEPS = Option("steps", int, 10, "steps to profile", min=1)
_TASKS = Option(
    "tasks",
    str,
    _CHIEF,
    "the chief, or all tasks: every worker on this machine, and the parameter servers",
    choices=(_CHIEF, _ALL),
)
_TIMEOUT = Option("timeout_secs", float, 300, "seconds to wait for the profile", min=1)
OPTIONS = (_STEPS, _TASKS, _TIMEOUT, show.JSON, show.HTML)
_LOOK_SECS = 0.2
_WORKERS = ("chief", "worker")


class AttachError(TfFrameError):
    """No process made the profile."""


@folder_command(name="tf-frame profile attach", usage=_USAGE, options=OPTIONS)
def main(folders: Sequence[str], options: Mapping[str, Any]) -> int:
    """Profiles a job, and prints the report; returns the exit code."""
    check_file(options[show.HTML.name])
    folder = os.path.abspath(os.path.expanduser(folders[0]))
    all_tasks = options[_TASKS.name] == _ALL
    workers = _workers(folder, all_tasks=all_tasks)
    servers = [s for s in read_statuses(folder) if s.task.startswith("ps-") and s.state == SERVING]
    expected = _expected_files(workers, servers if all_tasks else [])
    label = f"attach_{time.time_ns() // 10**6}"
    is_text = not options[show.JSON.name]
    request = ProfileRequest(label, options[_STEPS.name], all_tasks)
    with _request_in(folder, request):
        for task in workers:
            _ask(task)
        if is_text:
            report(f"asked {', '.join(worker.task for worker in workers)} for a profile")
        profile = _wait(folder, label, expected, options[_TIMEOUT.name])
    if all_tasks:
        rows = write_merged(
            find_folder(folder, os.path.basename(profile)), os.path.join(profile, _TRACE)
        )
        (report if is_text else complain)(rows)
    words = ["--json"] if not is_text else []
    words += [f"--html={options[show.HTML.name]}"] if options[show.HTML.name] else []
    return show.main([folder, "--run", os.path.basename(profile), *words])


@contextlib.contextmanager
def _request_in(folder: str, request: ProfileRequest) -> Iterator[None]:
    """Keeps the request in the folder within the block.

    Raises:
      ConfigError: the folder has the request of another process.
    """
    with contextlib.ExitStack() as stack:
        with writing(short(folder), "give the command again"):
            try:
                stack.enter_context(file_lock(os.path.join(folder, LOCK)))
            except LockHeldError as error:
                raise ConfigError(
                    f"{error.holder} waits for a profile of {short(folder)}; give the command "
                    "again after it"
                ) from None
            with quiet_import():
                write_request(folder, request)
        stack.callback(remove_request, folder)
        yield


def _ask(task: TaskStatus) -> None:
    try:
        os.kill(task.pid, SIGNAL)
    except ProcessLookupError:
        raise AttachError(f"{task.task} ended before it could be asked") from None


def _workers(folder: str, *, all_tasks: bool) -> list[TaskStatus]:
    """Returns the workers to ask.

    Raises:
      ConfigError: no worker can be asked.
    """
    statuses = [worker for worker in read_statuses(folder) if worker.task.split("-")[0] in _WORKERS]
    if not statuses:
        raise ConfigError(
            f"{short(folder)} has no status files of a training; give its --model_dir"
        )
    if not all_tasks:
        statuses = [worker for worker in statuses if worker.task.startswith("chief")]
    workers = []
    for worker in statuses:
        reason = _refusal(worker)
        if reason:
            complain(f"tf-frame: {worker.task} is not asked: {reason}")
        else:
            workers.append(worker)
    if not workers:
        raise ConfigError(f"no process that trains in {short(folder)} can be asked for a profile")
    return workers


def _expected_files(
    workers: Sequence[TaskStatus], servers: Sequence[TaskStatus]
) -> dict[str, TaskStatus]:
    """Returns the ends of the names of the expected files -> task; the chief asks the servers."""
    expected = {_task_in_file(task) + SUFFIX: task for task in workers}
    if any(task.task.startswith("chief") for task in workers):
        expected |= {_task_in_file(task) + XPLANE: task for task in servers}
    elif servers:
        complain(
            "tf-frame: parameter servers take no part, as the chief, which asks them, is not asked"
        )
    return expected


def _task_in_file(status: TaskStatus) -> str:
    return f"{status.host}_{status.task.replace('-', '_')}"


def _refusal(status: TaskStatus) -> str:
    """Returns the reason why a task cannot be asked; empty if it can."""
    if status.host != socket.gethostname():
        return f"it runs on {status.host}; give the command there"
    try:
        os.kill(status.pid, 0)
    except ProcessLookupError:
        return f"its process {status.pid} has ended"
    except PermissionError:
        return f"its process {status.pid} belongs to another user"
    if status.began != process_began(status.pid):
        return f"its process has ended; another one is {status.pid} now"
    if not listens(status.pid):
        return f"its process {status.pid} does not train now, or is none of this tf-frame"
    return ""


def _wait(
    model_dir: str, label: str, expected: Mapping[str, TaskStatus], timeout_secs: float
) -> str:
    """Waits for the files of all tasks; returns their folder.

    Raises:
      AttachError: a process has ended or made no profile, or the time is over.
    """
    until = time.monotonic() + timeout_secs
    pattern = os.path.join(model_dir, "plugins", "profile", f"*_{label}", "*")
    while True:
        paths = {os.path.basename(path): path for path in glob.glob(pattern)}
        missing = {
            name: task for name, task in expected.items() if not _is_there(name, paths, expected)
        }
        folder = os.path.dirname(next(iter(paths.values()), ""))
        if not missing:
            return folder
        reason = _reason_to_stop(missing, paths)
        if not reason and time.monotonic() > until:
            tasks = ", ".join(status.task for status in missing.values())
            reason = (
                f"no profile from {tasks} within {timeout_secs:g} s; its log says why, or a step "
                "takes longer than that (--timeout_secs)"
            )
        if reason:
            hint = f"; the others' profile: {folder}" if paths else ""
            raise AttachError(f"{reason}{hint}")
        time.sleep(_LOOK_SECS)


def _reason_to_stop(missing: Mapping[str, TaskStatus], paths: Mapping[str, str]) -> str:
    """Returns the reason why a missing file will never come; empty if all may still come."""
    failures = {name: name.removesuffix(XPLANE) + FAILURE for name in missing}
    if all(file in paths for file in failures.values()):
        name, status = next(iter(missing.items()))
        return f"{status.task} made no profile: {_content(paths[failures[name]])}"
    ended = [status.task for status in missing.values() if _has_ended(status)]
    return f"{ended[0]} ended before it had written its profile" if ended else ""


def _content(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return short(file.read())


def _is_there(name: str, names: Collection[str], expected: Collection[str]) -> bool:
    # The files of a chief without a job name it worker 0.
    worker_name = name.replace("_chief_0.", "_worker_0.")
    return name in names or (worker_name in names and worker_name not in expected)


def _has_ended(status: TaskStatus) -> bool:
    is_local = status.host == socket.gethostname()
    return is_local and not os.path.exists(f"/proc/{status.pid}")
