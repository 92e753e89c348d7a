"""`replicate_model_fn`: a model function on several devices of one machine.

    def model_fn(features, labels, mode):
        ...
        optimizer = TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))
        return EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, global_step))

    Estimator(replicate_model_fn(model_fn, devices=["/device:GPU:0", "/device:GPU:1"]))

Each device gets a part of the batch. The towers are tf-frame's clones, with the names of the
original: the first tower has no name scope, the others are `tower_1`, `tower_2`, ...
Source: tensorflow_estimator 1.15, replicate_model_fn.py.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.estimator.argument_checks import called_with
from tf_frame.estimator.model_function.spec import EstimatorSpec, ModeKeys
from tf_frame_legacy.contrib.estimator.merged_specs import (
    merge_evaluation,
    merge_predictions,
    merge_training,
)
from tf_frame_legacy.contrib.estimator.tower_optimizer import Towers


@dataclasses.dataclass(frozen=True)
class TowerDevices(DeploymentConfig):
    """The devices of towers, given by name.

    Attributes:
      devices: device of each tower.
    """

    devices: tuple[str, ...] = ()

    @property
    def variables(self) -> str:
        """Device of the variables: the only GPU, else the CPU."""
        single_gpu = len(self.devices) == 1 and "GPU" in self.devices[0].upper()
        return self.devices[0] if single_gpu else "/device:CPU:0"

    def clone_device(self, clone_index: int) -> str:
        return self.devices[clone_index]

    def clone_scope(self, clone_index: int) -> str:
        return f"tower_{clone_index}" if clone_index else ""

    def ps_task_device(self, task: int) -> str:
        return self.variables


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., EstimatorSpec]:
    """Returns a model function that builds a tower on each device.

    Features and labels are split in their first dimension. The towers' gradients are added up;
    metrics are summed over the towers, predictions concatenated. Other fields of the
    `EstimatorSpec` are those of one tower.

    Args:
      model_fn: the model function; with several devices it wraps its optimizers with
        `TowerOptimizer`.
      loss_reduction: `tf.losses.Reduction.SUM` adds up the losses; any other averages them.
      devices: names of the devices; default: all GPUs, or the CPU.

    Raises:
      ValueError: `loss_reduction` is NONE. The returned function raises it if the batch cannot be
        split evenly, or an optimizer is not wrapped.
    """
    if loss_reduction == tf.losses.Reduction.NONE:
        raise ValueError(
            f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is "
            "specified."
        )
    names = tuple(devices or _local_devices())
    tower_devices = TowerDevices(num_clones=len(names), devices=names)
    sums = loss_reduction == tf.losses.Reduction.SUM

    def replicated_model_fn(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> Any:
        shards = _split_batch(features, labels, tower_devices)

        def build_tower(shard: tuple[Any, Any]) -> Any:
            arguments = {"params": copy.deepcopy(params), "config": copy.deepcopy(config)}
            return called_with(model_fn, features=shard[0], labels=shard[1], mode=mode, **arguments)

        specs = build_towers(build_tower, shards, tower_devices, sums=sums)
        if len(specs) == 1:
            return specs[0]
        merge = {ModeKeys.TRAIN: merge_training, ModeKeys.EVAL: merge_evaluation}
        with tf.device(tower_devices.variables):
            return merge.get(mode, merge_predictions)(specs)

    return replicated_model_fn


def build_towers(
    build_tower: Callable[[Any], Any],
    shards: Sequence[Any],
    devices: TowerDevices,
    *,
    sums: bool,
) -> list[EstimatorSpec]:
    """Returns the specs of all towers, with the losses scaled for their sum.

    Args:
      build_tower: builds a tower of a shard.
      shards: the part of the batch of each tower.
      devices: their devices.
      sums: whether the loss of all towers is the sum; else the mean.

    Raises:
      ValueError: towers call different optimizers, or one that is not wrapped.
    """
    towers = Towers(number=len(shards), sums=sums)
    next_shard = iter(shards)

    def build() -> Any:
        towers.begin()
        spec = build_tower(next(next_shard))
        if spec.train_op is not None and towers.number > 1 and not towers.used:
            raise ValueError(
                "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn "
                "with multiple `devices`."
            )
        return spec if spec.loss is None else spec._replace(loss=towers.scaled(spec.loss))

    with towers.building(), variables_placed(devices):
        clones = create_clones(devices, build, allow_own_variables=True)
    towers.check_same_calls()
    return [clone.outputs for clone in clones]


def _local_devices() -> list[str]:
    gpus = tf.config.list_physical_devices("GPU")
    return [f"/device:GPU:{index}" for index in range(len(gpus))] or ["/device:CPU:0"]


def _split_batch(features: Any, labels: Any, devices: TowerDevices) -> list[tuple[Any, Any]]:
    """Returns the features and labels of each tower."""
    number = devices.num_clones
    if number == 1:
        return [(features, labels)]
    with tf.name_scope("split_inputs"), tf.device(devices.variables):
        parts = [_split(features, number), [None] * number]
        if labels is not None:
            parts[1] = _split(labels, number)
    return list(zip(*parts, strict=True))


def _split(value: Any, number: int) -> list[Any]:
    if isinstance(value, dict):
        parts = {name: _split(tensor, number) for name, tensor in value.items()}
        return [{name: part[i] for name, part in parts.items()} for i in range(number)]
    if isinstance(value, tf.SparseTensor):
        return list(tf.sparse.split(sp_input=value, num_split=number, axis=0))
    tensor = tf.convert_to_tensor(value)
    batch_size = tf.compat.dimension_value(tensor.shape[0])
    if batch_size is not None and batch_size % number != 0:
        raise ValueError(
            f"Batch size {batch_size} needs to be divisible by the number of GPUs, which is "
            f"{number}."
        )
    return list(tf.split(tensor, number))
