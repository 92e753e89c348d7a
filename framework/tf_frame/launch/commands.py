"""Determines the command, environment and CPU cores of each task of a job on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tf_frame.cluster.tf_config import TF_CONFIG
from tf_frame.errors import ConfigError
from tf_frame.launch.job import CHIEF, EVALUATOR, PS, WORKER, Job, Task, tf_config
from tf_frame.launch.process import PROGRAM, TaskCommand
from tf_frame.text import short_word

LOG_FOLDER = "logs"
_VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES"
_NO_GPUS = "-1"


def task_commands(
    job: Job,
    ports: Sequence[int],
    *,
    gpus_per_worker: int | None = None,
    cpus_per_task: int | None = None,
    program: Sequence[str] = PROGRAM,
) -> list[TaskCommand]:
    """Returns the command of each task.

    Args:
      job: the job.
      ports: a free port for each task of `serving_tasks`.
      gpus_per_worker: number of GPUs for each task that trains; None: the tasks share all.
      cpus_per_task: number of cores for each task; None: the tasks share all.
      program: the words before the words of the job.

    Raises:
      ConfigError: there are not as many GPUs.
    """
    pairs = zip(serving_tasks(job), ports, strict=True)
    addresses = {task: f"127.0.0.1:{port}" for task, port in pairs}
    return [
        TaskCommand(
            task=task,
            words=[*program, *job.words],
            environment={
                # What a task prints is in the log at once.
                "PYTHONUNBUFFERED": "1",
                **os.environ,
                TF_CONFIG: tf_config(task, addresses),
                **gpu_variables(task, gpus_per_worker, os.environ.get(_VISIBLE_GPUS)),
            },
            cpus=cores(number, cpus_per_task),
            log=os.path.join(job.model_dir, LOG_FOLDER, f"{task}.log"),
        )
        for number, task in enumerate(job.tasks)
    ]


def serving_tasks(job: Job) -> list[Task]:
    """Returns the tasks with a server."""
    return [task for task in job.tasks if task.type != EVALUATOR]


def gpu_variables(
    task: Task, gpus_per_worker: int | None, visible: str | None
) -> Mapping[str, str]:
    """Returns the environment variables that choose the GPUs of a task.

    `visible` are the GPUs that the launcher sees, as CUDA_VISIBLE_DEVICES has them; None: all.

    Raises:
      ConfigError: the launcher does not see as many.
    """
    # TensorFlow would take the memory of all GPUs for a server that computes nothing on them.
    if task.type == PS or (gpus_per_worker is not None and task.type == EVALUATOR):
        return {_VISIBLE_GPUS: _NO_GPUS}
    if gpus_per_worker is None:
        return {}
    worker = 0 if task.type == CHIEF else task.index + 1
    numbers = range(worker * gpus_per_worker, (worker + 1) * gpus_per_worker)
    if not numbers:
        return {_VISIBLE_GPUS: _NO_GPUS}
    if visible is None:
        return {_VISIBLE_GPUS: ",".join(map(str, numbers))}
    gpus = [gpu for gpu in visible.split(",") if gpu.strip() not in ("", _NO_GPUS)]
    if numbers.stop > len(gpus):
        raise ConfigError(
            f"--gpus_per_worker {gpus_per_worker}: {WORKER} number {worker + 1} would see the GPUs "
            f"{numbers.start} to {numbers.stop - 1}, and {_VISIBLE_GPUS}={short_word(visible)} "
            f"has {len(gpus)}"
        )
    return {_VISIBLE_GPUS: ",".join(gpus[numbers.start : numbers.stop])}


def cores(number: int, cpus_per_task: int | None) -> list[int]:
    """Returns the cores of a task by its number: after the cores of earlier tasks, going round."""
    if cpus_per_task is None or not hasattr(os, "sched_getaffinity"):
        return []
    usable = sorted(os.sched_getaffinity(0))
    first = number * cpus_per_task
    return sorted({usable[i % len(usable)] for i in range(first, first + cpus_per_task)})
