"""`RunConfig` of tf.contrib.learn: a `RunConfig` of tf.estimator with older arguments."""

from __future__ import annotations

import os
import uuid
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import read_tf_config
from tf_frame.estimator.run_config import run_config
from tf_frame_legacy.contrib.learn.constants import Environment

_DEFAULT_SECS = 600


class RunConfig(run_config.RunConfig):
    """The configuration of an `Estimator` of tf.contrib.learn or tf.estimator.

    Args:
      master, evaluation_master: targets of sessions; default: those of TF_CONFIG.
      num_cores, log_device_placement, gpu_memory_fraction: fields of `session_config`, if it is
        not given.
      save_checkpoints_secs: 0 for the default, 600 unless `save_checkpoints_steps` is given.
      tf_random_seed, save_summary_steps, save_checkpoints_steps, keep_checkpoint_max,
        keep_checkpoint_every_n_hours, log_step_count_steps, protocol, model_dir, session_config,
        session_creation_timeout_secs: see `tf.estimator.RunConfig`.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: float | None = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        self._tf_config = tf.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
        )
        if gpu_memory_fraction != 1:
            memory = self._tf_config.gpu_options
            memory.per_process_gpu_memory_fraction = gpu_memory_fraction
        if session_config is None and self._tf_config != tf.ConfigProto():
            session_config = self._tf_config
        if save_checkpoints_secs == 0:
            save_checkpoints_secs = None if save_checkpoints_steps else _DEFAULT_SECS
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            save_checkpoints_steps=save_checkpoints_steps,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._set_masters(
            self.master if master is None else master, evaluation_master or self.evaluation_master
        )
        self._uid = uuid.uuid4().hex

    @property
    def tf_config(self) -> Any:
        """The `ConfigProto` of `num_cores`, `log_device_placement` and `gpu_memory_fraction`."""
        return self._tf_config

    @property
    def environment(self) -> str:
        """Entry `environment` of TF_CONFIG."""
        return str(read_tf_config(os.environ).get("environment", Environment.LOCAL))

    def uid(self, whitelist: Any = None) -> str:
        """Returns a text that copies of this object share, also after `replace`."""
        del whitelist
        return self._uid
