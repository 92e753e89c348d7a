"""`Server`: a `tf.train.Server` with parameter servers that end with the job.

    from tf_frame_legacy.server import Server  # was: tf.train.Server

    server = Server(cluster_spec, job_name=FLAGS.job_name, task_index=FLAGS.task_id)
    if FLAGS.job_name == "ps":
        server.join()  # Returns when all workers have ended.

TensorFlow's `join` blocks for ever. Here each worker process reports its end, and the chief waits
for these reports and then ends the parameter servers.
"""

from __future__ import annotations

import atexit
import contextlib
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.key_value_store import KeyValueStore
from tf_frame.cluster.listening import confine
from tf_frame.cluster.server import LEAVE, send_to_ps, serve

_LOOK_SECS = 0.2
# Workers end within a step of the chief, unless they were killed.
_WAIT_SECS = 30.0


class Server(tf.train.Server):
    """The server of a task of a job with parameter servers.

    A process that ends with an error reports, too. A killed process does not: the parameter servers
    wait for a new chief, and the chief waits 30 seconds for a killed worker. The chief is task 0 of
    the job `chief` or `master`, or else of `worker`. The server listens at the interface of its
    task alone. The arguments are the same as for `tf.compat.v1.train.Server`.
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
        super().__init__(server_or_cluster_def, job_name, task_index, protocol, config, start=False)
        confine(self)
        if start:
            self.start()
        definition = self.server_def
        self._jobs = {job.name: dict(job.tasks) for job in definition.cluster.job}
        self._task = f"{definition.job_name}/task:{definition.task_index}"
        if "ps" in self._jobs and self._task in self._workers():
            atexit.register(self._end)

    def join(self) -> None:
        """Blocks: a parameter server until the job has ended, other tasks for ever."""
        if self._task.startswith("ps/"):
            serve(self)
        else:
            super().join()

    def _workers(self) -> set[str]:
        """Returns the tasks that train, such as `worker/task:1`."""
        jobs = {
            name: tasks for name, tasks in self._jobs.items() if name not in ("ps", "evaluator")
        }
        return {f"{name}/task:{index}" for name, tasks in jobs.items() for index in tasks}

    def _end(self) -> None:
        cluster = Cluster(
            num_ps_tasks=len(self._jobs["ps"]), target=self.target, job=self._task, jobs=self._jobs
        )
        config = tf.ConfigProto(device_filters=[cluster.host, f"/job:{self._task}"])
        store = KeyValueStore(self.target, cluster.host, config)
        # A parameter server may be gone already.
        with contextlib.suppress(tf.errors.OpError):
            store.put({_key(self._task): 1})
            if self._task != cluster.chief_job:
                return
            _wait_for_all(store, self._workers())
        if self._task == cluster.chief_job:
            send_to_ps(cluster, LEAVE)


def _wait_for_all(store: KeyValueStore, tasks: set[str]) -> None:
    deadline = time.monotonic() + _WAIT_SECS
    while any(store.number(_key(task)) < 0 for task in tasks) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECS)


def _key(task: str) -> str:
    return f"legacy/ended/{task}"
