"""Offsets between the clocks of the machines of a job, for profiles of several tasks.

    clock_offsets(cluster)      # {"worker_1": -2300000}

A task runs `tf.timestamp()` on the server of another one and takes half of the round trip for the
way there, as NTP does (RFC 5905, section 8, with both server timestamps equal).
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
    """Returns what this task knows of clocks: nanoseconds to add for times of the chief.

    A worker knows its own clock, the chief those of the parameter servers. Tasks of one machine
    have the same clock, so they are left out. A server that does not answer is left out with a
    warning.

    Args:
      cluster: this task.

    Returns:
      Offsets by the names of tasks in profiles, such as `worker_1`.
    """
    found = {}
    for name, job, sign in _measured(cluster):
        try:
            found[name] = sign * clock_offset(cluster, job)
        except tf.errors.OpError as error:
            _LOG.warning("the clock of %s is taken for right: %s", name, error.message)
    return found


def clock_offset(cluster: Cluster, job: str, now: Callable[[], int] = time.time_ns) -> int:
    """Returns the nanoseconds to add to times of this task for those of another one.

    The error is at most half of the shortest of some round trips.

    Args:
      cluster: this task.
      job: job and task of the other one, such as `chief/task:0`.
      now: the clock of this task, nanoseconds since 1970.

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
            there = tf.timestamp()
        with tf.Session(cluster.target, config=config) as session:
            read = session.make_callable(there)
            read()  # The first run sends the graph.
            for _ in range(_TRIPS):
                began = now()
                told = int(read() * 1e9)
                ended = now()
                trips.append((ended - began, told - (began + ended) // 2))
    return min(trips)[1]


def _measured(cluster: Cluster) -> list[tuple[str, str, int]]:
    """Tasks whose clocks this one measures: name, job to ask, and sign of the offset to it."""
    if not cluster.has_several_tasks:
        return []
    if not cluster.is_chief:
        asked = [(cluster.profiled_task, cluster.chief_job, 1)]
    else:
        asked = [(f"ps_{task}", f"ps/task:{task}", -1) for task in range(cluster.num_ps_tasks)]
    own = _find_machine(cluster, cluster.worker_job)
    return [each for each in asked if own is None or _find_machine(cluster, each[1]) != own]


def _find_machine(cluster: Cluster, job: str) -> str | None:
    name, _, task = job.partition("/task:")
    address = cluster.jobs.get(name, {}).get(int(task or 0))
    return address.rpartition(":")[0] if address else None
