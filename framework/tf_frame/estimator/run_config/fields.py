"""The properties of a `RunConfig`, to read only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import ClusterConfig

# The arguments of a `RunConfig` by name, in their order; all of them can be replaced.
REPLACEABLE = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
    "options",
]


def _field(name: str, meaning: str) -> Any:
    return property(lambda self: self._fields[name], doc=meaning)


def _of_cluster(name: str, meaning: str) -> Any:
    return property(lambda self: getattr(self._cluster, name), doc=meaning)


class RunConfigFields:
    """What a `RunConfig` shows of its arguments and its cluster."""

    _fields: Mapping[str, Any]
    _cluster: ClusterConfig

    model_dir = _field("model_dir", "Folder for everything that is written, or None.")
    tf_random_seed = _field("tf_random_seed", "Seed of a run, or None.")
    save_summary_steps = _field("save_summary_steps", "Steps between summaries.")
    save_checkpoints_steps = _field("save_checkpoints_steps", "Steps between checkpoints.")
    save_checkpoints_secs = _field("save_checkpoints_secs", "Seconds between checkpoints.")
    session_config = _field("session_config", "The `tf.ConfigProto` of sessions, or None.")
    keep_checkpoint_max = _field("keep_checkpoint_max", "Checkpoints kept; 0 or None: all.")
    keep_checkpoint_every_n_hours = _field(
        "keep_checkpoint_every_n_hours", "Hours for each of which one checkpoint more is kept."
    )
    log_step_count_steps = _field("log_step_count_steps", "Steps between log lines, or None.")
    train_distribute = _field("train_distribute", "Always None.")
    eval_distribute = _field("eval_distribute", "Always None.")
    device_fn = _field("device_fn", "Function of `op` that returns a device, or None.")
    protocol = _field("protocol", "Protocol of servers that are started; None means grpc.")
    experimental_max_worker_delay_secs = _field(
        "experimental_max_worker_delay_secs", "Seconds that a worker waits at most, or None."
    )
    session_creation_timeout_secs = _field(
        "session_creation_timeout_secs", "Seconds to wait for a session."
    )
    checkpoint_save_graph_def = _field(
        "checkpoint_save_graph_def", "Whether graph.pbtxt and .meta files are written."
    )

    task_type = _of_cluster("task_type", "chief, master, worker, ps or evaluator.")
    task_id = _of_cluster("task_id", "Number of this task among those of its type.")
    global_id_in_cluster = _of_cluster("global_id", "Number of this task among all, or None.")
    master = _of_cluster("master", "Target of training sessions; empty inside this process.")
    evaluation_master = _of_cluster("evaluation_master", "Target of evaluation sessions.")
    is_chief = _of_cluster("is_chief", "Whether this task initialises, saves and summarises.")
    num_ps_replicas = _of_cluster("num_ps", "Tasks that hold variables.")
    num_worker_replicas = _of_cluster("num_workers", "Tasks that train, with the chief.")
    service = _of_cluster("service", "What TF_CONFIG says of the platform, or None.")

    @property
    def cluster(self) -> ClusterConfig:
        """This task and its cluster."""
        return self._cluster

    @property
    def cluster_spec(self) -> Any:
        """The cluster as a `tf.train.ClusterSpec`; empty for a process alone."""
        return tf.train.ClusterSpec(
            {job: dict(tasks) for job, tasks in self._cluster.cluster.items()}
        )
