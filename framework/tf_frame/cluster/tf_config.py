"""Parses the environment variable TF_CONFIG: the cluster, and the task of this process.

    TF_CONFIG='{"cluster": {"chief": ["a:2222"], "ps": ["b:2222"], "worker": ["c:2222"]},
                "task": {"type": "worker", "index": 0}}'

Keys, rules and errors follow tensorflow_estimator, run_config.py, so that schedulers that set
TF_CONFIG for tf.estimator can start jobs of tf-frame.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tf_frame.text import brief, short
from tf_frame.text_file import parse_json

TF_CONFIG = "TF_CONFIG"

# Job name -> task id -> address.
Jobs = Mapping[str, Mapping[int, str]]


class TaskType:
    """The task types of tf.estimator."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


# Characters of a cluster and of a task in messages, whose other words are those of tf.estimator.
_LONGEST_CLUSTER, _LONGEST_TASK = 110, 30
_LEADERS = (TaskType.CHIEF, TaskType.MASTER)


@dataclasses.dataclass(frozen=True)
class ClusterConfig:
    """A task of a typed cluster; the defaults describe a single process.

    Attributes:
      task_type, task_id: type and id of this task; ids count from 0 in each type.
      cluster: job name -> task id -> address; empty without a cluster, and for an
        evaluator, which is not part of the training cluster.
      master: target of training sessions; empty for a session in this process.
      evaluation_master: target of evaluation sessions.
      is_chief: whether this task initialises, saves and summarises.
      num_ps: number of tasks that hold variables.
      num_workers: number of tasks that train, including the chief; 0 for an evaluator.
      global_id: number of this task among all tasks: first the chief, then the other types
        by name, and `ps` last. None for an evaluator.
      service: description of the platform in TF_CONFIG; None without one.
      model_dir: folder in TF_CONFIG; None without one.
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
        """True if this task trains; parameter servers and evaluators do not."""
        return self.task_type in (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)

    def run_options(self) -> dict[str, Any]:
        """The run options of this task; empty if training needs none for the cluster.

        The numbers of workers follow slim's flags: the chief is 0; worker i is i + 1, or i if
        worker 0 is the chief.
        """
        if not self.trains or not (self.cluster or self.master):
            return {}
        leads = self.task_type == TaskType.WORKER and not {*_LEADERS} & self.cluster.keys()
        return {
            "master": self.master,
            "task": 0 if self.is_chief else self.task_id + (0 if leads else 1),
            "worker_replicas": self.num_workers,
            "num_ps_tasks": self.num_ps,
        }


def read_tf_config(environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns the content of TF_CONFIG; empty without TF_CONFIG.

    Args:
      environment: the environment variables, such as `os.environ`.

    Raises:
      ValueError: the content is not JSON.
      TypeError: the JSON is no object `{"name": value}`.
    """
    try:
        content = parse_json(environment.get(TF_CONFIG, "{}"))
    except ValueError as error:
        raise ValueError(f"TF_CONFIG is not JSON: {error}") from None
    return _mapping(content, TF_CONFIG)


def cluster_config(tf_config: Mapping[str, Any], *, worker_leads: bool = False) -> ClusterConfig:
    """Finds the task of this process in the cluster of TF_CONFIG.

    Args:
      tf_config: the content of TF_CONFIG; see `read_tf_config`.
      worker_leads: whether worker 0 is the chief of a cluster without the jobs `chief` and
        `master`; tf.estimator refuses such a cluster.

    Raises:
      ValueError: the task or the cluster breaks a rule.
      TypeError: a part of the content has the wrong type.
    """
    service = tf_config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}'
        )
    if "sparseCluster" in tf_config and "cluster" not in tf_config:
        raise ValueError(
            'TF_CONFIG has a "sparseCluster", which Kubernetes writes with enableDynamicWorker; '
            "workers that come and go are not supported, leave enableDynamicWorker out"
        )
    cluster = _cluster(tf_config.get("cluster", {}))
    task = _mapping(tf_config.get("task", {}), '"task" in TF_CONFIG')
    if cluster:
        leader = _leader(cluster, worker_leads=worker_leads)
        place = _find_task(cluster, task, tf_config, leader)
    else:
        place = _alone(task, tf_config)
    return dataclasses.replace(place, service=service, model_dir=tf_config.get("model_dir"))


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a JSON object, {{...}}; it is {brief(value)}")
    return value


def _cluster(jobs: Any) -> Jobs:
    """Returns the jobs, after the checks of `tf.train.ClusterSpec`."""
    if not isinstance(jobs, dict):
        raise TypeError(
            "`cluster` must be a dictionary mapping one or more job names to lists of network "
            f"addresses; in TF_CONFIG it is {brief(jobs)}"
        )
    return {job: _tasks(job, tasks) for job, tasks in jobs.items()}


def _tasks(job: str, tasks: Any) -> dict[int, str]:
    if not isinstance(tasks, (list, dict)):
        raise TypeError(
            f"The tasks for job {brief(job)} must be a list or a dictionary from integers to "
            "strings."
        )
    by_index = tasks if isinstance(tasks, dict) else dict(enumerate(tasks))
    for address in by_index.values():
        if not isinstance(address, str):
            raise TypeError(f"Task address {brief(address)} must be bytes or unicode")
    return {_index(index): address for index, address in by_index.items()}


def _alone(task: Mapping[str, Any], tf_config: Mapping[str, Any]) -> ClusterConfig:
    """Returns a process without a cluster; its sessions may be on a remote server."""
    if task.get("type", TaskType.WORKER) != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if _index(task.get("index", 0)) != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return ClusterConfig(
        master=_target(tf_config, "session_master"),
        evaluation_master=_target(tf_config, "eval_session_master"),
    )


def _find_task(
    cluster: Jobs, task: Mapping[str, Any], tf_config: Mapping[str, Any], leader: str
) -> ClusterConfig:
    """Returns a task of the cluster, or its evaluator."""
    task_type, task_id = _checked_task(cluster, task, leader)
    if task_type == TaskType.EVALUATOR:
        return _evaluator(task_id, leader, tf_config)
    return ClusterConfig(
        task_type=task_type,
        task_id=task_id,
        cluster=cluster,
        master=_master(cluster, task_type, task_id, tf_config),
        is_chief=(task_type, task_id) == (leader, 0),
        num_ps=len(cluster.get(TaskType.PS, ())),
        num_workers=sum(len(cluster.get(job, ())) for job in {TaskType.WORKER, leader}),
        global_id=_global_id(cluster, task_type, task_id, leader),
    )


def _leader(cluster: Jobs, *, worker_leads: bool) -> str:
    """Returns the type of the leading task; `master` is the older name of `chief`."""
    if worker_leads and TaskType.WORKER in cluster and not {*_LEADERS} & cluster.keys():
        return TaskType.WORKER
    if TaskType.MASTER not in cluster:
        return TaskType.CHIEF
    if TaskType.CHIEF in cluster:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    return TaskType.MASTER


def _checked_task(cluster: Jobs, task: Mapping[str, Any], leader: str) -> tuple[str, int]:
    """Returns type and id of this task."""
    if not cluster.get(leader):
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{leader}" node.')
    if leader != TaskType.WORKER and _size(cluster[leader]) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{leader}" node.')
    if not task.get("type"):
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task.get("index") is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_type, task_id = str(task["type"]), _index(task["index"])
    if task_id < 0:
        raise ValueError("Task index must be non-negative number.")
    if task_type != TaskType.EVALUATOR:
        _check_is_in(cluster, task_type, task_id)
    return task_type, task_id


def _index(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"Task index must be a number; it is {brief(value)}") from None


def _check_is_in(cluster: Jobs, task_type: str, task_id: int) -> None:
    where = (
        f"in the cluster_spec:\n{_cluster_text(cluster)}\n\n"
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )
    named = short(task_type, _LONGEST_TASK)
    if task_type not in cluster:
        raise ValueError(f"{named} is not a valid task_type {where}")
    if task_id not in cluster[task_type]:
        number = short(task_id, _LONGEST_TASK)
        raise ValueError(f"{number} is not a valid task_id for task_type {named} {where}")


def _cluster_text(cluster: Jobs) -> str:
    """Returns the text of a `tf.train.ClusterSpec`; a job with missing ids is shown as a dict."""
    jobs = []
    for job, tasks in sorted(cluster.items()):
        dense = tasks and _size(tasks) == len(tasks)
        jobs.append(
            f"{brief(job)}: {brief([tasks[i] for i in sorted(tasks)] if dense else dict(tasks))}"
        )
    return f"ClusterSpec({{{short(', '.join(jobs), _LONGEST_CLUSTER)}}})"


def _size(tasks: Mapping[int, str]) -> int:
    """Returns the number of task ids of a job, missing ids included."""
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


def _master(cluster: Jobs, task_type: str, task_id: int, tf_config: Mapping[str, Any]) -> str:
    if "session_master" in tf_config:
        return _target(tf_config, "session_master")
    if len(cluster) == 1 and _size(cluster[task_type]) == 1:
        return ""  # For a single process, a session without the network is faster.
    return f"grpc://{cluster[task_type][task_id]}"


def _target(tf_config: Mapping[str, Any], key: str) -> str:
    return str(tf_config.get(key) or "")


def _global_id(cluster: Jobs, task_type: str, task_id: int, leader: str) -> int:
    order = [leader, *sorted(job for job in cluster if job not in (leader, TaskType.PS))]
    before = order[: order.index(task_type)] if task_type in order else order
    return sum(_size(cluster[job]) for job in before) + task_id
