"""Offsets between the clocks of the machines of a job, for profiles of several tasks.

    clock_offsets(cluster)      # {"worker_1": -2300000}

A task runs `tf.timestamp()` on the server of another task and assumes that the answer was made in
the middle of the round trip, as NTP does (RFC 5905, section 8).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

import tensorflow.compat.v1 as tf

from tf_frame.cluster.cluster import Cluster

_LOG = logging.getLogger("tf_frame")
_TRIPS = 10
_TIMEOUT_MS = 5000


def clock_offsets(cluster: Cluster) -> Mapping[str, int]:
    """Measures clocks; returns nanoseconds to add to times of a task for times of the chief.

    A worker measures its own clock, the chief the clocks of the parameter servers. The result
    has the names of tasks in profiles, such as `worker_1`. It leaves out tasks on the machine of
    this task, and, with a warning, servers that do not answer.
    """
    offsets = {}
    for name, job, sign in _measured_tasks(cluster):
        try:
            offsets[name] = sign * clock_offset(cluster, job)
        except tf.errors.OpError as error:
            _LOG.warning("the clock of %s is taken for right: %s", name, error.message)
    return offsets


def clock_offset(cluster: Cluster, job: str, now: Callable[[], int] = time.time_ns) -> int:
    """Returns the nanoseconds to add to times of this task for times of another task.

    The error is at most half of the shortest round trip.

    Args:
      cluster, now: this task and its clock, nanoseconds since 1970.
      job: the other task, such as `chief/task:0`.

    Raises:
      tf.errors.OpError: the other task does not answer.
    """
    config = tf.ConfigProto(
        device_filters=[f"/job:{job}", f"/job:{cluster.worker_job}"],
        operation_timeout_in_ms=_TIMEOUT_MS,
    )
    trips = []
    with tf.Graph().as_default():
        with tf.device(f"/job:{job}/device:CPU:0"):
            timestamp = tf.timestamp()
        with tf.Session(cluster.target, config=config) as session:
            read_clock = session.make_callable(timestamp)
            read_clock()  # The first run sends the graph.
            for _ in range(_TRIPS):
                began = now()
                other_time = int(read_clock() * 1e9)
                ended = now()
                trips.append((ended - began, other_time - (began + ended) // 2))
    return min(trips)[1]


def _measured_tasks(cluster: Cluster) -> list[tuple[str, str, int]]:
    """Returns name, task to ask and sign of the offset for each clock that this task measures."""
    if not cluster.has_several_tasks:
        return []
    if not cluster.is_chief:
        tasks = [(cluster.profiled_task, cluster.chief_job, 1)]
    else:
        tasks = [(f"ps_{task}", f"ps/task:{task}", -1) for task in range(cluster.num_ps_tasks)]
    machine = _find_machine(cluster, cluster.worker_job)
    return [
        (name, job, sign)
        for name, job, sign in tasks
        if machine is None or _find_machine(cluster, job) != machine
    ]


def _find_machine(cluster: Cluster, job: str) -> str | None:
    name, _, task = job.partition("/task:")
    address = cluster.jobs.get(name, {}).get(int(task or 0))
    return address.rpartition(":")[0] if address else None
