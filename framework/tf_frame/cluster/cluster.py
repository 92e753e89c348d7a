"""The place of this process in a job: which worker, chief or not, which server."""

from __future__ import annotations

import dataclasses

from tf_frame.config.run_options import RunOptions


@dataclasses.dataclass(frozen=True)
class Cluster:
    """One task of a job.

    Attributes:
      task_id: which worker this is.
      num_workers: worker tasks that train together.
      num_ps_tasks: tasks that hold variables; 0 keeps them on this machine.
      target: the session target; empty for a session inside this process.
      job: job and task of this worker's server (`chief/task:0`); empty for
        `worker` and its `task_id`.
    """

    task_id: int = 0
    num_workers: int = 1
    num_ps_tasks: int = 0
    target: str = ""
    job: str = ""

    @property
    def is_chief(self) -> bool:
        """Whether this task initialises, restores, saves and summarises."""
        return self.task_id == 0

    @property
    def worker_job(self) -> str:
        """The job of this worker, with its task where it has a server."""
        if not self.target:
            return "worker"
        return self.job or f"worker/task:{self.task_id}"


def cluster_of(config: RunOptions) -> Cluster:
    """Reads the cluster from the run options, as slim's trainers did.

    The servers of the other tasks are started by somebody else; `--master`
    names the one of this worker.
    """
    return Cluster(config.task, config.worker_replicas, config.num_ps_tasks, config.master)
