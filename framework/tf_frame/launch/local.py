"""`tf-frame launch --on local`: runs every task of a job as a process on this machine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.cluster.status import note_stop
from tf_frame.command_line.screen import output_may_fail, print_error
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError, writing
from tf_frame.launch.commands import LOG_FOLDER, serving_tasks, task_commands
from tf_frame.launch.job import Job
from tf_frame.launch.job_report import Limits, format_ends, format_failure
from tf_frame.launch.job_screen import JobScreen
from tf_frame.launch.ports import reserved_ports
from tf_frame.launch.process import PROGRAM, TaskCommand
from tf_frame.launch.supervisor import Supervisor
from tf_frame.launch.worker_counts import WorkerCounts
from tf_frame.runs.setup.folder_claim import (
    check_writable,
    launching,
    make_new_folder,
    make_writable,
    refuse_if_busy,
)
from tf_frame.runs.setup.folder_watch import watched_folder
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.shell_text import shell_word
from tf_frame.text import short

OPTIONS = (
    Option(
        "max_restarts",
        int,
        3,
        "how often each task is started again if it dies: a signal, or exit code 127 and above",
        min=0,
    ),
    Option(
        "gpus_per_worker",
        int | None,
        None,
        "GPUs for each task that trains, the first ones for the chief; the others see none; none: "
        "all share all",
        min=0,
    ),
    Option(
        "cpus_per_task",
        int | None,
        None,
        "cores for the threads of each task, others for each as far as there are enough; none: "
        "all share all",
        min=1,
    ),
)


def check(setup: TrainingSetup, values: Mapping[str, Any]) -> None:
    """Checks data and folder, so that an error comes once, and before any process starts.

    Raises:
      DataError: the input does not find its data.
      ConfigError: the folder cannot be written, or another run writes to it.
    """
    folder = setup.model_dir
    if file_system.is_remote(folder):
        raise ConfigError(
            f"--model_dir {short(folder)}: the logs of the tasks need a folder of this machine"
        )
    setup.check(setup.make_input().info)
    check_writable(folder)
    if os.path.isdir(folder):
        refuse_if_busy(folder)


def main(
    job: Job,
    values: Mapping[str, Any],
    *,
    program: Sequence[str] = PROGRAM,
    limits: Mapping[str, float] | None = None,
) -> int:
    """Runs a job.

    Args:
      job, values: see `launch.job.PLACES`.
      program: the words before the words of the job.
      limits: fields of `Limits` that differ from the default.

    Raises:
      ConfigError: there are too few GPUs, or the logs cannot be written.
    """
    gpus, cpus = values["gpus_per_worker"], values["cpus_per_task"]
    if job.is_default_dir:
        job = job.in_folder(make_new_folder(job.model_dir))
    make_writable(job.model_dir)
    # For the largest number of workers: a job that goes on with fewer leaves some unused.
    with (
        launching(job.model_dir),
        watched_folder(
            job.model_dir,
            timeout_secs=job.timeout_secs,
            report=print_error,
        ),
        reserved_ports(len(serving_tasks(job))) as ports,
        output_may_fail(),
    ):

        def commands(job: Job) -> list[TaskCommand]:
            used = ports[: len(serving_tasks(job))]
            return task_commands(
                job, used, gpus_per_worker=gpus, cpus_per_task=cpus, program=program
            )

        bounds = Limits(
            **{"max_restarts": values["max_restarts"], "stopped_secs": job.timeout_secs}
            | dict(limits or {})
        )
        return _run_all(job, commands, bounds)


def _run_all(job: Job, commands: Callable[[Job], Sequence[TaskCommand]], limits: Limits) -> int:
    """Runs a job, with one number of workers after the other; returns the exit code."""
    first_commands = commands(job)
    _make_log_folder(job)
    begin = time.monotonic()
    screen = JobScreen(job.tasks)
    screen.say(_introduction(job))
    workers = WorkerCounts(job, screen.say)
    supervisor, code = _run(first_commands, workers, screen, limits)
    while workers.goes_on(supervisor):
        supervisor, code = _run(commands(workers.job), workers, screen, limits)
    _show_end(supervisor, screen, job.model_dir, time.monotonic() - begin)
    return code


def _run(
    commands: Sequence[TaskCommand], workers: WorkerCounts, screen: JobScreen, limits: Limits
) -> tuple[Supervisor, int]:
    """Runs the tasks of a number of workers; returns what looked after them, and the exit code."""
    supervisor = Supervisor(
        commands,
        workers.job.model_dir,
        screen,
        limits,
        can_lose=workers.can_be_fewer,
        regroup_due=workers.may_grow,
    )
    return supervisor, supervisor.run()


def _make_log_folder(job: Job) -> None:
    with writing(f"--model_dir {short(job.model_dir)}"):
        os.makedirs(os.path.join(job.model_dir, LOG_FOLDER), exist_ok=True)


def _introduction(job: Job) -> str:
    names = ", ".join(map(str, job.tasks))
    logs = os.path.join(job.model_dir, LOG_FOLDER)
    return f"starting {names}; logs in {logs}"


def _show_end(supervisor: Supervisor, screen: JobScreen, folder: str, seconds: float) -> None:
    lines_shown = screen.shown
    screen.say(format_ends(supervisor.runs))
    if supervisor.failure:
        screen.say(format_failure(supervisor.failure, lines_shown))
    elif supervisor.received is not None:
        name = signal.Signals(supervisor.received).name
        same = f"the same command with --model_dir {shell_word(folder)}"
        note_stop(folder, name)
        screen.say(f"stopped by {name}; {same} goes on")
    else:
        screen.say(f"done in {seconds:.0f} s; results in {folder}")
