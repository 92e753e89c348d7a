"""The environment variable TF_CONFIG: the cluster, and which of its tasks this process is.

    TF_CONFIG='{"cluster": {"chief": ["a:2222"], "ps": ["b:2222"], "worker": ["c:2222"]},
                "task": {"type": "worker", "index": 0}}'

Keys, rules and errors are those of tensorflow_estimator, run_config.py.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from tf_frame.cluster.cluster_config import ClusterConfig, Jobs, TaskType

__all__ = ["TF_CONFIG", "ClusterConfig", "TaskType", "cluster_config", "read_tf_config"]

TF_CONFIG = "TF_CONFIG"


def read_tf_config(environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns what TF_CONFIG holds, empty without one.

    Args:
      environment: the environment variables, such as `os.environ`.

    Raises:
      json.JSONDecodeError: it is not JSON; this is a ValueError.
      TypeError: it is JSON of another form than `{"name": value}`.
    """
    try:
        content = json.loads(environment.get(TF_CONFIG, "{}"))
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(
            f"TF_CONFIG is not JSON: {error.msg}", error.doc, error.pos
        ) from None
    return _mapping(content, TF_CONFIG)


def cluster_config(tf_config: Mapping[str, Any]) -> ClusterConfig:
    """Finds the place of this process in the cluster that TF_CONFIG describes.

    Args:
      tf_config: the content of TF_CONFIG; see `read_tf_config`.

    Raises:
      ValueError: the task or the cluster break a rule.
      TypeError: a part of it is of another form than it should be.
    """
    service = tf_config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}'
        )
    cluster = _cluster(tf_config.get("cluster", {}))
    task = _mapping(tf_config.get("task", {}), '"task" in TF_CONFIG')
    place = _task_of(cluster, task, tf_config) if cluster else _alone(task, tf_config)
    return dataclasses.replace(place, service=service, model_dir=tf_config.get("model_dir"))


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a JSON object, {{...}}; it is {value!r:.80}")
    return value


def _cluster(jobs: Any) -> Jobs:
    """The jobs, with the checks of `tf.train.ClusterSpec`."""
    if not isinstance(jobs, dict):
        raise TypeError(
            "`cluster` must be a dictionary mapping one or more job names to lists of network "
            f"addresses; in TF_CONFIG it is {jobs!r:.80}"
        )
    return {job: _tasks(job, tasks) for job, tasks in jobs.items()}


def _tasks(job: str, tasks: Any) -> dict[int, str]:
    if not isinstance(tasks, (list, dict)):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
        )
    by_index = tasks if isinstance(tasks, dict) else dict(enumerate(tasks))
    for address in by_index.values():
        if not isinstance(address, str):
            raise TypeError(f"Task address {address!r} must be bytes or unicode")
    return {int(index): address for index, address in by_index.items()}


def _alone(task: Mapping[str, Any], tf_config: Mapping[str, Any]) -> ClusterConfig:
    """A process without a cluster, perhaps with servers that somebody else runs."""
    if task.get("type", TaskType.WORKER) != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if int(task.get("index", 0)) != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return ClusterConfig(
        master=_target(tf_config, "session_master"),
        evaluation_master=_target(tf_config, "eval_session_master"),
    )


def _task_of(cluster: Jobs, task: Mapping[str, Any], tf_config: Mapping[str, Any]) -> ClusterConfig:
    """A task of a cluster, or the evaluator beside it."""
    leader = _leader(cluster)
    task_type, task_id = _checked_task(cluster, task, leader)
    if task_type == TaskType.EVALUATOR:
        return _evaluator(task_id, leader, tf_config)
    return ClusterConfig(
        task_type=task_type,
        task_id=task_id,
        cluster=cluster,
        master=_master(cluster, task_type, task_id, tf_config),
        is_chief=task_type == leader,
        num_ps=len(cluster.get(TaskType.PS, ())),
        num_workers=len(cluster.get(TaskType.WORKER, ())) + len(cluster[leader]),
        global_id=_global_id(cluster, task_type, task_id, leader),
    )


def _leader(cluster: Jobs) -> str:
    """The type of the task that leads; `master` is the name that clusters had before `chief`."""
    if TaskType.MASTER not in cluster:
        return TaskType.CHIEF
    if TaskType.CHIEF in cluster:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    return TaskType.MASTER


def _checked_task(cluster: Jobs, task: Mapping[str, Any], leader: str) -> tuple[str, int]:
    """Type and id of this task."""
    if not cluster.get(leader):
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{leader}" node.')
    if _size(cluster[leader]) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{leader}" node.')
    if not task.get("type"):
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task.get("index") is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_type, task_id = str(task["type"]), int(task["index"])
    if task_id < 0:
        raise ValueError("Task index must be non-negative number.")
    if task_type != TaskType.EVALUATOR:
        _check_is_in(cluster, task_type, task_id)
    return task_type, task_id


def _check_is_in(cluster: Jobs, task_type: str, task_id: int) -> None:
    where = (
        f"in the cluster_spec:\n{_cluster_text(cluster)}\n\n"
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )
    if task_type not in cluster:
        raise ValueError(f"{task_type} is not a valid task_type {where}")
    if task_id not in cluster[task_type]:
        raise ValueError(f"{task_id} is not a valid task_id for task_type {task_type} {where}")


def _cluster_text(cluster: Jobs) -> str:
    """What `str` says of a `tf.train.ClusterSpec`; ids with gaps are shown."""
    jobs = []
    for job, tasks in sorted(cluster.items()):
        dense = tasks and _size(tasks) == len(tasks)
        jobs.append(f"{job!r}: {[tasks[i] for i in sorted(tasks)] if dense else dict(tasks)!r}")
    return f"ClusterSpec({{{', '.join(jobs)}}})"


def _size(tasks: Mapping[int, str]) -> int:
    """How many task ids a job spans; more than it has tasks where some are left out."""
    return max(tasks, default=-1) + 1


def _evaluator(task_id: int, leader: str, tf_config: Mapping[str, Any]) -> ClusterConfig:
    if leader == TaskType.MASTER:
        raise ValueError(
            "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
        )
    return ClusterConfig(
        task_type=TaskType.EVALUATOR,
        task_id=task_id,
        evaluation_master=_target(tf_config, "eval_session_master"),
        is_chief=False,
        num_workers=0,
        global_id=None,
    )


def _master(
    cluster: Jobs,
    task_type: str,
    task_id: int,
    tf_config: Mapping[str, Any],
) -> str:
    if "session_master" in tf_config:
        return _target(tf_config, "session_master")
    if len(cluster) == 1 and _size(cluster[task_type]) == 1:
        return ""  # Alone, a session inside the process is quicker than one over the network.
    return f"grpc://{cluster[task_type][task_id]}"


def _target(tf_config: Mapping[str, Any], key: str) -> str:
    return str(tf_config.get(key) or "")


def _global_id(cluster: Jobs, task_type: str, task_id: int, leader: str) -> int:
    order = [leader, *sorted(job for job in cluster if job not in (leader, TaskType.PS))]
    before = order[: order.index(task_type)] if task_type in order else order
    return sum(_size(cluster[job]) for job in before) + task_id
