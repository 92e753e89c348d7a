"""`RunConfig`, `TPUConfig` and `InputPipelineConfig` of tf.estimator.tpu.

Without a TPU nothing reads the `TPUConfig`; its checks and defaults are those of
tensorflow_estimator 1.15, tpu_config.py.
"""

from __future__ import annotations

import collections
import os
import re
from typing import Any

from tf_frame.cluster.tf_config import read_tf_config
from tf_frame.estimator.run_config import run_config
from tf_frame_legacy.contrib.tpu.util import check_positive_integer

_CORES = (1, 2, 4, 8, 16, 32, 64, 128)
_ITERATIONS = re.compile(r"[1-9]\d*[smh]?")


class InputPipelineConfig:
    """Values of `TPUConfig.per_host_input_for_training`."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


_Fields = collections.namedtuple(
    "_Fields",
    "iterations_per_loop num_shards num_cores_per_replica per_host_input_for_training "
    "tpu_job_name initial_infeed_sleep_secs input_partition_dims "
    "eval_training_input_configuration experimental_host_call_every_n_steps",
)


class TPUConfig(_Fields):
    """The loop and the shards of a TPU; without effect elsewhere.

    Args:
      iterations_per_loop: steps of a session run on a TPU, or a duration (`60s`, `5m`, `1h`).
      num_shards: number of replicas of the model.
      num_cores_per_replica: cores of a replica.
      per_host_input_for_training: a value of `InputPipelineConfig`; False is PER_SHARD_V1,
        True is PER_HOST_V1.
      tpu_job_name: default: `tpu_worker_job_name` in the `service` of TF_CONFIG.
      initial_infeed_sleep_secs, input_partition_dims, eval_training_input_configuration,
        experimental_host_call_every_n_steps: further settings of a TPU.

    Raises:
      ValueError: a value is out of range, or arguments contradict each other.
      TypeError: a number is not an integer.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: bool | int = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        if not _ITERATIONS.fullmatch(str(iterations_per_loop)):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer "
                f"value or time-based value such as `3600s`, `60m`, `1h`; got {iterations_per_loop}"
            )
        if num_shards is not None:
            check_positive_integer(num_shards, "TPUConfig num_shards")
        if initial_infeed_sleep_secs:
            check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        _check_partition(input_partition_dims, per_host_input_for_training, num_cores_per_replica)
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
            raise ValueError(
                f"num_cores_per_replica must be {', '.join(map(str, _CORES))}; got "
                f"{num_cores_per_replica}"
            )
        if eval_training_input_configuration not in (
            InputPipelineConfig.PER_HOST_V1,
            InputPipelineConfig.SLICED,
        ):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (
                InputPipelineConfig.PER_HOST_V1
                if per_host_input_for_training
                else InputPipelineConfig.PER_SHARD_V1
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name or _job_name_in_tf_config(),
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


class RunConfig(run_config.RunConfig):
    """The configuration of a `TPUEstimator`: a `RunConfig` of tf.estimator with a `TPUConfig`.

    Args:
      tpu_config: default: `TPUConfig()`.
      evaluation_master: target of evaluation sessions; default: `master`.
      master: target of training sessions.
      cluster: the resolver of a TPU; without effect, because only `use_tpu=True` needs one. The
        property `cluster` is the cluster of TF_CONFIG.
      **kwargs: arguments of `tf.estimator.RunConfig`.

    Raises:
      ValueError: `master` and `cluster` are both given, or as raised by `tf.estimator.RunConfig`.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        master = self.master if master is None else master
        if evaluation_master is None:
            evaluation_master = self.evaluation_master
            if not evaluation_master and self.task_type != "evaluator":
                evaluation_master = master
        self._set_masters(master, evaluation_master)

    @property
    def tpu_config(self) -> TPUConfig:
        """The settings of a TPU."""
        return self._tpu_config

    def replace(self, **kwargs: Any) -> RunConfig:
        """Returns a copy with other values; see `tf.estimator.RunConfig.replace`."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        new = super().replace(**kwargs)
        new._tpu_config = tpu_config
        return new


def _check_partition(dims: Any, per_host_input: Any, num_cores_per_replica: int | None) -> None:
    if dims is None:
        return
    if len(dims) not in (1, 2):
        raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
    # True == 1, but True means PER_HOST_V1.
    if per_host_input is not InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
    if num_cores_per_replica is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


def _job_name_in_tf_config() -> str | None:
    name = read_tf_config(os.environ).get("service", {}).get("tpu_worker_job_name")
    return name if name is None else str(name)
