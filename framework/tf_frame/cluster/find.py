"""Finds the task of this process: from flags, from TF_CONFIG, or from Slurm.

    tf-frame run --ps_hosts a:2222 --worker_hosts b:2222,c:2222 --job_name worker --task 1
    TF_CONFIG='{"cluster": ..., "task": ...}' tf-frame run ...
    srun tf-frame run --cluster_from slurm --num_ps_tasks 1 ...

With `--cluster_from folder` the tasks find each other when they start: see `cluster.meeting`.
`--master` names a server that another program starts, as in slim's trainers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from tf_frame.cluster.cluster import Cluster, cluster_from_tf_config
from tf_frame.cluster.slurm import slurm_tf_config
from tf_frame.cluster.tf_config import TF_CONFIG, TaskType, cluster_config, read_tf_config
from tf_frame.config.option_groups import FOLDER, ClusterOptions
from tf_frame.errors import ConfigError
from tf_frame.text import brief, short_word

C = TypeVar("C", bound=ClusterOptions)

_SCHEME = "grpc://"
_ADDRESS = re.compile(r"[^/:\s]+:\d+|\[[0-9a-fA-F:]+\]:\d+")


def find_cluster(config: ClusterOptions, environment: Mapping[str, str] | None = None) -> Cluster:
    """Finds the task of this process.

    Args:
      config: the options of the cluster.
      environment: the environment variables; None: TF_CONFIG is ignored.

    Raises:
      ConfigError: options or TF_CONFIG do not describe a cluster with this task.
    """
    if config.master:
        _check_no_hosts(config)
        return Cluster(config.task, config.worker_replicas, config.num_ps_tasks, config.master)
    tf_config = _tf_config(config, environment or {})
    if not tf_config:
        if config.num_ps_tasks or config.task or config.worker_replicas > 1:
            raise ConfigError(
                "--num_ps_tasks, --worker_replicas and --task describe a cluster; give the "
                "addresses of its tasks as --worker_hosts and --ps_hosts, or the server of this "
                "worker as --master grpc://HOST:PORT; or let tf-frame launch start all tasks"
            )
        return Cluster()
    try:
        cluster = cluster_from_tf_config(cluster_config(tf_config, worker_leads=True))
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{_origin(config)}: {' '.join(str(error).split())}") from None
    check_addresses(cluster, _origin(config))
    return cluster


def in_cluster(config: C, cluster: Cluster) -> C:
    """Returns the options with the task of this worker and the numbers of tasks of its cluster."""
    if not cluster.target:
        return config
    return dataclasses.replace(
        config,
        master=cluster.target,
        task=cluster.task_id if cluster.role == TaskType.WORKER else 0,
        worker_replicas=cluster.num_workers,
        num_ps_tasks=cluster.num_ps_tasks,
    )


def _tf_config(config: ClusterOptions, environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns the cluster in the form of TF_CONFIG; empty for a single process."""
    if config.worker_hosts or config.ps_hosts or config.job_name:
        return _tf_config_from_hosts(config, environment)
    if config.cluster_from == "slurm":
        return slurm_tf_config(
            environment, num_ps=config.num_ps_tasks, evaluator=config.dedicated_evaluator
        )
    if config.cluster_from in ("none", FOLDER) or not environment.get(TF_CONFIG):
        return {}
    try:
        return read_tf_config(environment)
    except (ValueError, TypeError) as error:
        raise ConfigError(str(error)) from None


def _tf_config_from_hosts(config: ClusterOptions, environment: Mapping[str, str]) -> dict[str, Any]:
    if environment.get(TF_CONFIG) and config.cluster_from != "none":
        raise ConfigError(
            "--worker_hosts and --ps_hosts describe a cluster, and so does the environment "
            "variable TF_CONFIG; leave one out, or give --cluster_from none"
        )
    if not config.worker_hosts or not config.job_name:
        raise ConfigError(
            "--worker_hosts, --ps_hosts, --job_name and --task go together: give the addresses of "
            "all tasks, and the job and task of this process"
        )
    cluster = {TaskType.WORKER: list(config.worker_hosts), TaskType.PS: list(config.ps_hosts)}
    return {
        "cluster": {job: hosts for job, hosts in cluster.items() if hosts},
        "task": {"type": config.job_name, "index": config.task},
    }


def check_addresses(cluster: Cluster, origin: str) -> None:
    """Raises a `ConfigError` for a malformed address, or one that two tasks have.

    The message begins with `origin`, the place of the addresses.
    """
    job_at: dict[str, str] = {}
    for job, tasks in cluster.jobs.items():
        for address in tasks.values():
            if not _is_address(address):
                raise ConfigError(
                    f"{origin}: the address {brief(address)} of the job {brief(job)} is not "
                    "HOST:PORT"
                )
            if address in job_at:
                raise ConfigError(
                    f"{origin}: the address {short_word(address)} is given twice, for "
                    f"{short_word(job_at[address])} and {short_word(job)}; give each task its own "
                    "address"
                )
            job_at[address] = job
    if cluster.target and not _is_target(cluster.target):
        raise ConfigError(
            f"{origin}: session_master is {brief(cluster.target)}; expected grpc://HOST:PORT"
        )


def _is_address(text: str) -> bool:
    return bool(_ADDRESS.fullmatch(text)) and 0 < int(text.rpartition(":")[2]) < 65536


def _is_target(text: str) -> bool:
    return text.startswith(_SCHEME) and _is_address(text.removeprefix(_SCHEME))


def _check_no_hosts(config: ClusterOptions) -> None:
    if config.worker_hosts or config.ps_hosts:
        raise ConfigError(
            f"--master {short_word(config.master)} is a server that another program starts, and "
            "--worker_hosts and --ps_hosts start servers; leave one of the two out"
        )
    if not _is_target(config.master):
        raise ConfigError(f"--master {short_word(config.master)}: expected grpc://HOST:PORT")
    if config.task >= config.worker_replicas:
        raise ConfigError(
            f"--task {config.task}: tasks count from 0 and --worker_replicas is "
            f"{config.worker_replicas}"
        )


def _origin(config: ClusterOptions) -> str:
    if config.worker_hosts:
        return "--worker_hosts, --ps_hosts, --job_name, --task"
    return "Slurm" if config.cluster_from == "slurm" else TF_CONFIG
