"""`Job`: the tasks of a distributed training, their TF_CONFIG, and the options of every job.

The same `Job` describes tasks on one machine, in Slurm and in Kubernetes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

from tf_frame.config.option import Option
from tf_frame.errors import ConfigError
from tf_frame.text import brief, printable

MODEL_DIR = "--model_dir"
PS, CHIEF, WORKER, EVALUATOR = "ps", "chief", "worker", "evaluator"
# --on NAME -> module with `OPTIONS` and `main(job, values)`, imported only if it is asked for.
# `values` are the values of `OPTIONS` by name; `main` returns the exit code.
PLACES = {
    "local": "tf_frame.launch.local",
    "slurm": "tf_frame.launch.slurm",
    "kubernetes": "tf_frame.launch.kubernetes",
    "env": "tf_frame.launch.env",
}
# For schedulers that give GPUs to the tasks.
GPUS_PER_WORKER = Option(
    "gpus_per_worker",
    int | None,
    None,
    "GPUs that the scheduler gives each task that trains; none: as it is set up",
    min=0,
)
ON = Option(
    "on",
    str,
    "local",
    "where the tasks run: on this machine; in Slurm (the job is submitted); in Kubernetes (a "
    "manifest is printed); or wherever the printed TF_CONFIG of each task is set",
    choices=tuple(PLACES),
)
OPTIONS = (
    Option(
        "num_ps",
        int,
        0,
        "parameter servers; 0: every worker holds the variables, and all-reduces the gradients",
        min=0,
    ),
    Option(
        "num_workers",
        str,
        "1",
        "tasks that train, the chief among them; 2..4: with --batch_shards of the run, go on with "
        "as few as 2 when others are lost for good",
    ),
    Option(
        "evaluator",
        bool,
        False,
        "a task of its own evaluates the checkpoints, while the others go on training",
    ),
    ON,
)


@dataclasses.dataclass(frozen=True, order=True)
class Task:
    """A task of a job, such as the second worker after the chief: `Task("worker", 1)`."""

    type: str
    index: int = 0

    def __str__(self) -> str:
        return f"{self.type}-{self.index}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """A distributed training.

    Attributes:
      words: the command of every task after `tf-frame`: `run`, and its options, among them
        `--model_dir`.
      model_dir: the folder of the run, which all tasks share.
      num_ps: number of parameter servers; 0: the workers all-reduce their gradients.
      num_workers: number of tasks that train, the chief among them.
      min_workers: the least number with which the job goes on; None: it needs all.
      evaluator: whether a task of its own evaluates the checkpoints.
      timeout_secs: seconds that the tasks wait for each other.
      is_default_dir: whether the user has named no folder, so that the job may take another one.
    """

    words: Sequence[str]
    model_dir: str
    num_ps: int = 0
    num_workers: int = 1
    min_workers: int | None = None
    evaluator: bool = False
    timeout_secs: float = 300.0
    is_default_dir: bool = False

    def in_folder(self, model_dir: str) -> Job:
        """Returns the job with another folder."""
        words = list(self.words)
        if MODEL_DIR in words:
            words[words.index(MODEL_DIR) + 1] = model_dir
        else:  # --model_dir=NAME; the later one counts.
            words += [MODEL_DIR, model_dir]
        return dataclasses.replace(self, words=words, model_dir=model_dir)

    @property
    def tasks(self) -> list[Task]:
        """All tasks: parameter servers, chief, workers, evaluator."""
        return [
            *(Task(PS, index) for index in range(self.num_ps)),
            Task(CHIEF),
            *(Task(WORKER, index) for index in range(self.num_workers - 1)),
            *([Task(EVALUATOR)] if self.evaluator else []),
        ]


def tf_config(task: Task, addresses: Mapping[Task, str]) -> str:
    """Returns the value of TF_CONFIG for a task.

    Args:
      task: the task.
      addresses: task -> `host:port`, for all tasks but the evaluator, which needs none.
    """
    cluster: dict[str, list[str]] = {}
    for member in sorted(addresses):
        if member.type != EVALUATOR:
            cluster.setdefault(member.type, []).append(addresses[member])
    return json.dumps({"cluster": cluster, "task": {"type": task.type, "index": task.index}})


def refuse_unprintable(text: str, where: str) -> None:
    """Raises a `ConfigError` for a text with line ends or other control characters.

    Blanks of any kind, such as U+00A0, and all scripts are allowed.

    In a script, what follows a line end would be a line of its own, and perhaps a command.
    """
    if printable(text) != text:
        raise ConfigError(
            f"{brief(text)} has a line end or another control character, which {where} cannot hold"
        )
