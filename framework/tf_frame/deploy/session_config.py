"""Makes the `DeploymentConfig` and the session's `ConfigProto` from the run options.

Clones go to the GPUs or, without any, to logical CPU devices: a command also works on a laptop.

Mixed precision computes in 16 bits where it is safe, which is faster, by TensorFlow's rewrite of
the graph: before a run, it casts the operands of products and convolutions, forward and backward.
The Python graph and the variables stay float32.

float16 is for GPUs. TensorFlow 2.21 has a rewrite to float16 for CPUs as well, but there a
convolution ends the process with a segmentation fault. bfloat16 is for CPUs with oneDNN and
AVX-512; there is no such rewrite for GPUs.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_devices import gpus_in_use, session_fields
from tf_frame.errors import ConfigError

_ON = rewriter_config_pb2.RewriterConfig.ON


def make_deployment(config: RunOptions, cluster: Cluster) -> DeploymentConfig:
    """Chooses the devices of clones and variables.

    On a machine without GPUs, clones are spread over logical CPU devices, so that the same
    command works on a laptop.

    Raises:
      ConfigError: fewer GPUs than clones, or `gpus` has a number that no GPU has.
    """
    gpus = len(gpus_in_use(config))
    elsewhere = bool(cluster.target and not cluster.jobs)  # The server has the devices.
    if gpus and not (config.clone_on_cpu or elsewhere) and config.num_clones > gpus:
        where = "--gpus names" if config.gpus else "this machine has"
        raise ConfigError(
            f"--num_clones {config.num_clones}, but {where} {gpus} GPU(s); "
            f"use --num_clones {gpus} or --clone_on_cpu"
        )
    return DeploymentConfig(
        num_clones=config.num_clones,
        clone_on_cpu=config.clone_on_cpu,
        replica_id=cluster.task_id,
        num_replicas=cluster.num_workers,
        num_ps_tasks=cluster.num_ps_tasks,
        worker_job_name=cluster.worker_job,
        clone_device_type="GPU" if gpus or elsewhere else "CPU",
        all_reduce=cluster.all_reduces,
    )


def session_config(
    config: RunOptions, deployment: DeploymentConfig, cluster: Cluster | None = None
) -> Any:
    """Returns the `ConfigProto` that provides the devices of `deployment`.

    Args:
      config: devices, threads and connections.
      deployment: the clones.
      cluster: the task of this process, whose servers the session is limited to.
    """
    proto = session_fields(config)
    proto.log_device_placement = config.log_device_placement
    if deployment.clone_device_type == "CPU" and not deployment.clone_on_cpu:
        proto.device_count["CPU"] = deployment.num_clones
    if cluster is not None and cluster.has_several_tasks:
        proto.device_filters.extend(cluster.peers)
    return proto


def server_config(config: RunOptions, deployment: DeploymentConfig, cluster: Cluster) -> Any:
    """Returns the `ConfigProto` of the server that this process starts for its task."""
    proto = session_config(config, deployment)
    if cluster.all_reduces:
        proto.experimental.collective_group_leader = cluster.collective_leader
    return proto


def precision_rewrites(proto: Any, config: RunOptions, *, has_gpu: bool) -> None:
    """Enables the rewrite of `--mixed_precision`.

    Args:
      proto: the `ConfigProto` of the session, which is changed.
      config: `mixed_precision`.
      has_gpu: whether the clones run on GPUs.

    Raises:
      ConfigError: the rewrite does not work on this machine.
    """
    if config.mixed_precision == "none":
        return
    rewrites = proto.graph_options.rewrite_options
    if config.mixed_precision == "float16":
        if not has_gpu:
            raise ConfigError(
                "--mixed_precision float16 needs a GPU, and no clone runs on one; on a CPU "
                "TensorFlow's convolutions in float16 crash; use bfloat16 or none"
            )
        rewrites.auto_mixed_precision = _ON
        return
    if has_gpu:
        raise ConfigError(
            "--mixed_precision bfloat16 is a rewrite for CPUs, and the clones run on GPUs; use "
            "float16 there, or --clone_on_cpu"
        )
    rewrites.auto_mixed_precision_onednn_bfloat16 = _ON
    if "bfloat16" not in product_types(proto):
        raise ConfigError(
            "--mixed_precision bfloat16 does nothing on this machine: TensorFlow left a matrix "
            "product in float32; it takes a CPU with AVX-512, and oneDNN, which "
            "TF_ENABLE_ONEDNN_OPTS=0 turns off; use none"
        )


def product_types(proto: Any) -> set[str]:
    """Finds the types of matrix products in a session, to report whether mixed precision works.

    Args:
      proto: the `ConfigProto` of the session.
    """
    metadata = tf.RunMetadata()
    with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
        product = tf.matmul(tf.random.uniform([8, 8]), tf.random.uniform([8, 8]))
        result = tf.nn.relu(product)
    with tf.Session(graph=graph, config=proto) as session:
        options = tf.RunOptions(output_partition_graphs=True)
        session.run(result, options=options, run_metadata=metadata)
    return {
        tf.as_dtype(node.attr["T"].type).name
        for partition in metadata.partition_graphs
        for node in partition.node
        if "MatMul" in node.op
    }
