"""Deployment and session configuration from run options: GPUs, or logical CPUs instead."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError


def make_deployment(config: RunOptions, cluster: Cluster) -> DeploymentConfig:
    """Chooses the devices of clones and variables.

    On a machine without GPUs, clones are spread over logical CPU devices, so that the same
    command works on a laptop.

    Raises:
      ConfigError: fewer GPUs than clones.
    """
    gpus = len(tf.config.list_physical_devices("GPU"))
    if gpus and not (config.clone_on_cpu or config.master) and config.num_clones > gpus:
        raise ConfigError(
            f"--num_clones {config.num_clones}, but this machine has {gpus} GPU(s); "
            f"use --num_clones {gpus} or --clone_on_cpu"
        )
    return DeploymentConfig(
        num_clones=config.num_clones,
        clone_on_cpu=config.clone_on_cpu,
        replica_id=cluster.task_id,
        num_replicas=cluster.num_workers,
        num_ps_tasks=cluster.num_ps_tasks,
        worker_job_name=cluster.worker_job,
        clone_device_type="GPU" if gpus or config.master else "CPU",
    )


def session_config(config: RunOptions, deployment: DeploymentConfig) -> Any:
    """Returns the `ConfigProto` that provides the devices of `deployment`."""
    proto = tf.ConfigProto(
        allow_soft_placement=True, log_device_placement=config.log_device_placement
    )
    if deployment.clone_device_type == "CPU" and not deployment.clone_on_cpu:
        proto.device_count["CPU"] = deployment.num_clones
    return proto
