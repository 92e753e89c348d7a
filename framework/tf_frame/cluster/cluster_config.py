"""One task of a cluster whose tasks have types, as Estimators have them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

# Job name -> task id -> address.
Jobs = Mapping[str, Mapping[int, str]]


class TaskType:
    """The task types that mean something to an Estimator."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


_LEADERS = (TaskType.CHIEF, TaskType.MASTER)


@dataclasses.dataclass(frozen=True)
class ClusterConfig:
    """One task, and the cluster it belongs to; the defaults are those of a process alone.

    Attributes:
      task_type, task_id: which task this process is; ids count from 0 in each type.
      cluster: job name -> task id -> address; empty without a cluster, and for an
        evaluator, which is no part of the one that trains.
      master: target of training sessions; empty for a session inside this process.
      evaluation_master: target of evaluation sessions.
      is_chief: whether this task initialises, saves and summarises.
      num_ps: tasks that hold variables.
      num_workers: tasks that train, the chief among them; 0 for an evaluator.
      global_id: the number of this task among all: the chief is 0, then come the
        other types by their names, and `ps` last. None for an evaluator.
      service: what TF_CONFIG says of the platform; None if nothing.
      model_dir: the folder that TF_CONFIG names; None if it names none.
    """

    task_type: str = TaskType.WORKER
    task_id: int = 0
    cluster: Jobs = dataclasses.field(default_factory=dict, hash=False)
    master: str = ""
    evaluation_master: str = ""
    is_chief: bool = True
    num_ps: int = 0
    num_workers: int = 1
    global_id: int | None = 0
    service: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)
    model_dir: str | None = None

    @property
    def trains(self) -> bool:
        """Whether this task trains; parameter servers and evaluators do not."""
        return self.task_type in (*_LEADERS, TaskType.WORKER)

    def run_options(self) -> dict[str, Any]:
        """The run options that describe this task, where training has to know of a cluster.

        They count workers as slim's flags do: the chief is 0, worker i is i + 1.
        """
        if not self.trains or not (self.cluster or self.master):
            return {}
        return {
            "master": self.master,
            "task": 0 if self.is_chief else self.task_id + 1,
            "worker_replicas": self.num_workers,
            "num_ps_tasks": self.num_ps,
        }
