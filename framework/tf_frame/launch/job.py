"""`Job`: the tasks of a distributed training, and the TF_CONFIG of each.

A job is the same on one machine, in Slurm and in Kubernetes; only who starts its processes differs.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

PS, CHIEF, WORKER, EVALUATOR = "ps", "chief", "worker", "evaluator"


@dataclasses.dataclass(frozen=True, order=True)
class Task:
    """A task of a job, such as the second worker beside the chief: `Task("worker", 1)`."""

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
      evaluator: whether a task of its own evaluates the checkpoints.
    """

    words: Sequence[str]
    model_dir: str
    num_ps: int = 0
    num_workers: int = 1
    evaluator: bool = False

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
    for each in sorted(addresses):
        if each.type != EVALUATOR:
            cluster.setdefault(each.type, []).append(addresses[each])
    return json.dumps({"cluster": cluster, "task": {"type": task.type, "index": task.index}})
