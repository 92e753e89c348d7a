"""The `ConfigProto` of the sessions of an Estimator that was given none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf_frame.cluster.tf_config import ClusterConfig, TaskType
from tf_frame.config.option import resolve
from tf_frame.config.option_groups import DeviceOptions
from tf_frame.deploy.session_config import session_fields
from tf_frame.estimator.run_config.options import normalize


def default_session_config(options: Mapping[str, Any] | None = None) -> Any:
    """Returns the `ConfigProto` for `RunConfig(options=...)`, such as `gpu_memory_growth`."""
    return session_fields(device_options(options))


def device_options(options: Mapping[str, Any] | None) -> DeviceOptions:
    """Returns the options of GPUs, memory and threads among `RunConfig(options=...)`."""
    return resolve(DeviceOptions, [normalize(options)])


def cluster_session_config(cluster: ClusterConfig, options: Mapping[str, Any] | None) -> Any:
    """Returns the default with filters for the devices that a task of a cluster uses.

    With these filters a worker does not wait for other workers. Source: tensorflow_estimator,
    run_config.py.
    """
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{cluster.task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    proto = default_session_config(options)
    if cluster.cluster:
        proto.device_filters.extend(filters.get(cluster.task_type, []))
    return proto
