"""Session configurations of old: which devices the session of a task looks at."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import ClusterConfig, TaskType


def device_filters(task_type: str, task_id: int) -> list[str] | None:
    """The devices that a task has to see; a worker need not wait for other workers.

    Source: tensorflow_estimator, run_config.py.

    Returns:
      Prefixes of device names; None for an evaluator and any other type.
    """
    if task_type in (TaskType.MASTER, TaskType.CHIEF):
        return ["/job:ps", f"/job:{task_type}"]
    if task_type == TaskType.WORKER:
        return ["/job:ps", f"/job:worker/task:{task_id}"]
    if task_type == TaskType.PS:
        return ["/job:ps", "/job:worker", "/job:chief", "/job:master"]
    return None


def default_session_config() -> Any:
    """The `ConfigProto` of an Estimator that was given none.

    Source: `get_default_session_config` of tensorflow_estimator, run_config.py.
    """
    proto = tf.ConfigProto(allow_soft_placement=True)
    rewriting = proto.graph_options.rewrite_options
    rewriting.meta_optimizer_iterations = rewriting.ONE
    return proto


def cluster_session_config(cluster: ClusterConfig) -> Any:
    """The same with the device filters of a task; None outside a cluster."""
    filters = device_filters(cluster.task_type, cluster.task_id) if cluster.cluster else None
    if filters is None:
        return None
    proto = default_session_config()
    proto.device_filters.extend(filters)
    return proto
