"""`Server`: a `tf.train.Server` whose parameter servers end with the job.

    from tf_frame.legacy.server import Server  # was: tf.train.Server

    server = Server(cluster_spec, job_name=FLAGS.job_name, task_index=FLAGS.task_id)
    if FLAGS.job_name == "ps":
        server.join()  # Returns when all workers have ended.

TensorFlow's `join` blocks for ever. Here each worker says at the end of its process that it ends.
"""

from __future__ import annotations

import atexit
import queue
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.server import received_commands, send_to_ps

_CHIEF_JOBS = ("chief", "master")
_LOOK_SECS = 1.0
# Workers end within a step of the chief, unless they were killed.
_AFTER_CHIEF_SECS = 30.0


class Server(tf.train.Server):
    """The server of a task of a job with parameter servers.

    A process that ends by an error says so, too; one that is killed does not, and its parameter
    servers stay for the one that is started in its place. The chief is the task 0 of the job
    `chief` or `master`, or else of `worker`.

    Args:
      server_or_cluster_def, job_name, task_index, protocol, config, start: those of
        `tf.compat.v1.train.Server`.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        super().__init__(server_or_cluster_def, job_name, task_index, protocol, config, start)
        definition = self.server_def
        self._jobs = {job.name: dict(job.tasks) for job in definition.cluster.job}
        self._task = f"{definition.job_name}/task:{definition.task_index}"
        if definition.job_name != "ps":
            atexit.register(self._say_that_it_ends)

    def join(self) -> None:
        """Blocks until the job has ended.

        Of a parameter server: until all workers have ended, or 30 seconds after the chief has. Of
        another task: for ever, as in TensorFlow.
        """
        if self._task.partition("/")[0] != "ps":
            super().join()
            return
        commands, there, deadline = received_commands(self), self._workers(), float("inf")
        while there and time.monotonic() < deadline:
            try:
                ended = commands.get(timeout=_LOOK_SECS).decode()
            except queue.Empty:
                continue
            there.discard(ended)
            if ended == self._chief():
                deadline = time.monotonic() + _AFTER_CHIEF_SECS

    def _workers(self) -> set[str]:
        """Returns the tasks that train."""
        jobs = {name: tasks for name, tasks in self._jobs.items() if name not in ("ps", "evaluator")}
        return {f"{name}/task:{index}" for name, tasks in jobs.items() for index in tasks}

    def _chief(self) -> str:
        job = next((name for name in _CHIEF_JOBS if name in self._jobs), "worker")
        return f"{job}/task:0"

    def _say_that_it_ends(self) -> None:
        cluster = Cluster(
            num_workers=len(self._workers()),
            num_ps_tasks=len(self._jobs.get("ps", {})),
            target=self.target,
            job=self._task,
            jobs=self._jobs,
        )
        send_to_ps(cluster, self._task.encode())
