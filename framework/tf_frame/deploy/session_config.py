"""Chooses the devices of a run from the run options, and configures its sessions.

Clones go to the GPUs or, without GPUs, to logical CPU devices, so that the same command works on a
laptop. All sessions of a process must have the same GPU options, because TensorFlow uses the
options of the first.
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.tf_config import TaskType
from tf_frame.config.option_groups import DeviceOptions
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError


def make_deployment(config: RunOptions, cluster: Cluster) -> DeploymentConfig:
    """Chooses the devices of clones and variables.

    Raises:
      ConfigError: fewer GPUs than clones, or `gpus` has a number that no GPU has.
    """
    gpus = len(gpus_in_use(config))
    on_server = bool(cluster.target and not cluster.jobs)  # The server has the devices.
    worker = cluster.task_id if cluster.role == TaskType.WORKER else 0
    shards = config.input_shards(worker) if config.batch_shards else None
    if gpus and not (config.clone_on_cpu or on_server) and config.num_clones > gpus:
        where = "--gpus names" if config.gpus else "this machine has"
        raise ConfigError(
            f"--num_clones {config.num_clones}, but {where} {gpus} GPU(s); "
            f"use --num_clones {gpus} or --clone_on_cpu"
        )
    return DeploymentConfig(
        num_clones=config.worker_clones,
        clone_on_cpu=config.clone_on_cpu,
        replica_id=worker,
        num_replicas=cluster.num_workers,
        num_ps_tasks=cluster.num_ps_tasks,
        worker_job_name=cluster.worker_job,
        clone_device_type="GPU" if gpus or on_server else "CPU",
        all_reduce=cluster.all_reduces,
        first_clone=shards.start if shards else 0,
        total_clones=config.batch_shards or None,
        num_devices=max(gpus, 1) if shards else None,
    )


def gpus_in_use(config: DeviceOptions) -> list[Any]:
    """Returns the physical GPUs that the options choose; empty on a machine without GPUs.

    Raises:
      ConfigError: `gpus` has a number that no GPU of this machine has.
    """
    gpus: list[Any] = tf.config.list_physical_devices("GPU")
    unknown = [number for number in config.gpus if gpus and number >= len(gpus)]
    if unknown:
        raise ConfigError(
            f"--gpus {','.join(map(str, config.gpus))}, but TensorFlow finds {len(gpus)} GPU(s) "
            f"on this machine; their numbers are 0 to {len(gpus) - 1}"
        )
    return [gpus[number] for number in config.gpus] if gpus and config.gpus else gpus


def device_fields(config: DeviceOptions) -> Any:
    """Returns a `ConfigProto` with only the fields that the options set."""
    proto = tf.ConfigProto(
        intra_op_parallelism_threads=config.intra_op_threads,
        inter_op_parallelism_threads=config.inter_op_threads,
    )
    if config.gpus:
        proto.gpu_options.visible_device_list = ",".join(map(str, config.gpus))
    if config.gpu_memory_growth:
        proto.gpu_options.allow_growth = True
    if config.gpu_memory_fraction is not None:
        proto.gpu_options.per_process_gpu_memory_fraction = config.gpu_memory_fraction
    return proto


def session_fields(config: DeviceOptions) -> Any:
    """Returns the default `ConfigProto` of a session.

    It adds soft placement to `device_fields`, and one pass of the graph optimizer, as in Estimator
    (tensorflow_estimator, run_config.py, `get_default_session_config`): a second pass makes the
    start longer, and made no step of deeplab shorter (docs/performance/loop.md).
    """
    proto = device_fields(config)
    proto.allow_soft_placement = True
    rewrites = proto.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return proto


def omit_passes(proto: Any) -> None:
    """Omits passes of the graph optimizer that change no operation where there is no GPU.

    The memory optimizer makes room on GPUs, and the layout optimizer turns images for them; on a
    CPU it does so only if it is asked. The optimizer in MLIR (TFG) sorts nodes and notes their
    shapes. A pass that a script has chosen stays.
    """
    rewrites = proto.graph_options.rewrite_options
    rewrites.memory_optimization = rewrites.memory_optimization or rewrites.NO_MEM_OPT
    if not rewrites.cpu_layout_conversion:
        rewrites.layout_optimizer = rewrites.layout_optimizer or rewrites.OFF
    rewrites.disable_tfg_optimizer = True


def inference_session_config(config: DeviceOptions, script_config: Any = None) -> Any:
    """Returns the `ConfigProto` of sessions that evaluate, predict or export.

    The `ConfigProto` of a script takes precedence over the options; None: `session_fields`.
    """
    if script_config is None:
        proto = session_fields(config)
        if not gpus_in_use(config):
            omit_passes(proto)
        return proto
    proto = device_fields(config)
    proto.MergeFrom(script_config)
    return proto


def session_config(
    config: RunOptions, deployment: DeploymentConfig, cluster: Cluster | None = None
) -> Any:
    """Returns the `ConfigProto` that provides the devices of `deployment`.

    With a `cluster`, the session is limited to the servers that the task of this process needs.
    """
    proto = session_fields(config)
    proto.log_device_placement = config.log_device_placement
    if deployment.clone_device_type == "CPU" and not deployment.clone_on_cpu:
        proto.device_count["CPU"] = deployment.num_devices or deployment.num_clones
    if cluster is not None and cluster.has_several_tasks:
        proto.device_filters.extend(cluster.peers)
    return proto


def server_config(config: RunOptions, deployment: DeploymentConfig, cluster: Cluster) -> Any:
    """Returns the `ConfigProto` of the server that this process starts for its task."""
    proto = session_config(config, deployment)
    if cluster.all_reduces:
        proto.experimental.collective_group_leader = cluster.collective_leader
    return proto


def device_report(config: DeviceOptions, deployment: DeploymentConfig, *, server: str = "") -> str:
    """Describes the devices that TensorFlow finds, and the devices of the clones.

    `server` is the address of the server that has the devices; empty: this process has them.

    Raises:
      ConfigError: see `gpus_in_use`.
    """
    if server:
        devices = f"those of the server {server}"
    else:
        devices = f"{_gpu_text(config)}, {_count(len(os.sched_getaffinity(0)), 'CPU core')}"
    clones = dict.fromkeys(deployment.clone_device(i) for i in range(deployment.num_clones))
    places = ", ".join(place.rpartition("device:")[2] for place in clones)
    return f"devices: {devices}; {_count(deployment.num_clones, 'clone')} on {places}"


def _gpu_text(config: DeviceOptions) -> str:
    gpus = gpus_in_use(config)
    if not gpus:
        return "no GPU" + (" (--gpus has no effect)" if config.gpus else "")
    names = dict.fromkeys(_name(gpu) for gpu in gpus)
    text = f"{_count(len(gpus), 'GPU')} ({', '.join(names)})"
    if not config.gpus:
        return text
    total = len(tf.config.list_physical_devices("GPU"))
    return f"{text} of {total}, the numbers {','.join(map(str, config.gpus))}"


def _name(gpu: Any) -> str:
    return str(tf.config.experimental.get_device_details(gpu).get("device_name", "unknown"))


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
