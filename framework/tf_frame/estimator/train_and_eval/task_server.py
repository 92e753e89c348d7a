"""The TensorFlow server of a task of a cluster.

Rules and error texts are those of `_start_std_server` of tensorflow_estimator,
training.py.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import read_tf_config

_LOG = logging.getLogger("tf_frame")
_TRAINERS = ("chief", "master", "worker")
_WHAT = "Could not start server; be sure to specify"


def start_server(config: Any) -> Any:
    """Starts the server of this process.

    Args:
      config: the `RunConfig`, which says of which task of which cluster.

    Returns:
      A `tf.train.Server`; None where the cluster is this one task that trains,
      which needs none.

    Raises:
      RuntimeError: the configuration says too little.
    """
    spec = config.cluster_spec
    if not spec or not config.task_type or config.task_id is None:
        raise RuntimeError(
            f"{_WHAT} cluster_spec, task_type, and task in RunConfig or set the TF_CONFIG "
            "environment variable."
        )
    if not config.master:
        if config.task_type in _TRAINERS and sum(map(spec.num_tasks, spec.jobs)) == 1:
            _LOG.info("Skip starting Tensorflow server as there is only one node in the cluster.")
            return None
        raise RuntimeError(
            f"{_WHAT} master in RunConfig or set the TF_CONFIG environment variable."
        )
    _LOG.info("Start Tensorflow server.")
    return tf.train.Server(
        spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=_server_config(config.session_config),
        protocol=config.protocol,
    )


def platform_starts_servers() -> bool:
    """Whether TF_CONFIG says that the servers of this cluster are there already."""
    tf_config = read_tf_config(os.environ)
    if not tf_config:
        _LOG.warning("TF_CONFIG should not be empty in distributed environment.")
    return bool(tf_config.get("environment") == "google")


def _server_config(session_config: Any) -> Any:
    """The `ConfigProto` of a server: of a session's, only what concerns GPUs."""
    config = tf.ConfigProto()
    if session_config is not None:
        config.gpu_options.CopyFrom(session_config.gpu_options)
    return config
