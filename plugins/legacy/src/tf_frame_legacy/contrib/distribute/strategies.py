"""Strategies for `RunConfig(train_distribute=...)`.

`Estimator` calls `mirror_model` once and `mirror_source` for the data of each training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.distribute.mirrored import MirroredSource, mirrored_model_fn


class MirroredStrategy:
    """Trains a clone of the model function on each device, with the mean of their losses.

    The variables exist once, on the CPU, where the original had a copy on each device.

    Args:
      devices: names of the devices; default: all GPUs, or the CPU.
      num_gpus, num_gpus_per_worker: the first GPUs instead of all; 0: the CPU.
      cross_device_ops, auto_shard_dataset, cross_tower_ops: without effect.

    Raises:
      ValueError: the devices are given in two ways.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        del cross_device_ops, auto_shard_dataset, cross_tower_ops
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        number = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is not None and number is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        if number is None:
            number = len(tf.config.list_physical_devices("GPU"))
        gpus = [f"/device:GPU:{index}" for index in range(number)]
        self.worker_devices = tuple(devices or gpus or ["/device:CPU:0"])

    @property
    def num_replicas_in_sync(self) -> int:
        """Number of clones."""
        return len(self.worker_devices)

    num_towers = num_replicas_in_sync

    def mirror_model(self, model_fn: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a model function that builds a clone on each device in training."""
        return mirrored_model_fn(model_fn, self.worker_devices)

    def mirror_source(self, source: Any) -> Any:
        """Returns an input whose elements are the batches of all clones."""
        return MirroredSource(source, self.num_replicas_in_sync)


class OneDeviceStrategy(MirroredStrategy):
    """Trains on one device.

    Args:
      device: its name.
    """

    def __init__(self, device: str) -> None:
        super().__init__([device])
