"""Sums of gradients by all-reduce: over workers without parameter servers, and over clones.

Every worker holds the variables; TensorFlow's collective operations add up the gradients, in a
ring over gRPC between CPUs, by NCCL between GPUs. All workers must run the same collectives in
each session call, in the same order; a worker may run other calls, such as saving, alone.

    group = AllReduceGroup(size=3, rank=1, device="/device:CPU:0")
    start = group.broadcast(tf.global_variables())   # once, after initialisation
    pairs = group.mean_gradients(pairs)
    stop = group.agreed([wants_to_stop])             # in the session call of the step

The server needs `experimental.collective_group_leader` in its configuration, and the session needs
device filters of the worker's own task. If a worker is lost, all others raise
`tf.errors.UnavailableError` at once. Then their servers refuse any further collective ("Restart
your program to reset"), so that the processes must be started again.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.update.collectives import (
    CLONES,
    Collectives,
    num_elements,
    pack,
    shaped,
    unpack,
)
from tf_frame.graph.update.gradients import sum_gradients

# Elements of a buffer for each member: the ring sends at least 64 bytes, and a member that receives
# nothing in a step would not notice that its neighbour is lost.
_MIN_ELEMENTS = 256
# Types that collectives add, and types that fit into int32.
_REDUCED = (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.int64)
_AS_INT32 = (tf.bool, tf.int8, tf.int16, tf.uint8, tf.uint16)

# Graph -> the group of its workers.
_GROUPS: weakref.WeakKeyDictionary[Any, AllReduceGroup] = weakref.WeakKeyDictionary()


@dataclasses.dataclass
class AllReduceGroup(Collectives):
    """The workers that compute sums together.

    Attributes:
      size: number of workers.
      rank: number of this worker; 0 is the chief.
      device: device of this worker's buffers.
    """

    rank: int = 0
    device: str = ""

    def mean_gradients(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Averages gradients over the workers.

        `tf.IndexedSlices` with a known number of slices stay sparse: the slices of all workers are
        concatenated. Other slices become dense. None stays None.

        Args:
          grads_and_vars: pairs, for the same variables in the same order in every worker.

        Raises:
          ConfigError: the shape of a variable is not known.
        """
        averaged = {}
        dense: dict[int, Any] = {}
        with tf.name_scope("all_reduce"), tf.device(self.device):
            for index, (gradient, variable) in enumerate(grads_and_vars):
                if isinstance(gradient, tf.IndexedSlices) and _known_slices(gradient):
                    averaged[index] = self._gathered(gradient)
                elif gradient is not None:
                    dense[index] = shaped(gradient, variable)
            # The last layers have their gradients first.
            order = list(dense)[::-1]
            sums = self.sums([dense[index] for index in order], weight=1 / self.size)
            averaged.update(zip(order, sums, strict=True))
        return [(averaged.get(index), v) for index, (_, v) in enumerate(grads_and_vars)]

    def broadcast(self, variables: Sequence[Any]) -> Any:
        """Returns the op that gives every worker the chief's values of variables.

        Run the op after initialisation or restore; other workers need no values before.

        Args:
          variables: global variables, with the parts of partitioned variables.

        Raises:
          ConfigError: a variable holds strings, or its shape is not known.
        """
        with tf.name_scope("broadcast"), tf.device(self.device):
            values = [self._own_value(variable) for variable in variables]
            sums = self.sums(values)
            if not self.rank:
                return tf.group(*sums)
            return tf.group(
                *(
                    tf.assign(variable, tf.cast(total, variable.dtype.base_dtype)).op
                    for variable, total in zip(variables, sums, strict=True)
                )
            )

    def agreed(self, values: Any, *, by: str = "max") -> Any:
        """Combines the elements of a small tensor over the workers.

        Run it in the session call of a step, so that all workers stop, and save, at this step.

        Args:
          values: int32, int64 or float numbers of a known shape.
          by: "max" or "sum".
        """
        with tf.name_scope("agreed"), tf.device(self.device):
            tensor = tf.convert_to_tensor(values)
            packed = pack([tensor], min_elements=self._min_elements)
            merge = {"max": "Max", "sum": "Add"}[by]
            return unpack(self.reduced([packed], [self.device], merge)[0], [tensor])[0]

    def sums(self, tensors: Sequence[Any], *, weight: float = 1.0) -> list[Any]:
        """Adds up tensors over the workers, each multiplied by `weight`."""
        return self.sum_members(
            [tensors], [self.device], weight=weight, min_elements=self._min_elements
        )

    @property
    def _min_elements(self) -> int:
        return _MIN_ELEMENTS * self.size

    def _gathered(self, gradient: tf.IndexedSlices) -> tf.IndexedSlices:
        weight = tf.cast(1 / self.size, gradient.values.dtype)
        return tf.IndexedSlices(
            self._concatenated(gradient.values * weight),
            self._concatenated(gradient.indices),
            gradient.dense_shape,
        )

    def _concatenated(self, tensor: Any) -> Any:
        """The tensors of all workers, one after the other.

        It is a sum: each worker has zeros in the rows of other workers. The ring of TensorFlow's
        own gathering may not notice that a neighbour with few bytes is lost.
        """
        rows = int(tensor.shape[0])
        before, after = self.rank * rows, (self.size - 1 - self.rank) * rows
        no_padding = [[0, 0]] * (tensor.shape.rank - 1)
        return self.sums([tf.pad(tensor, [[before, after], *no_padding])])[0]

    def _own_value(self, variable: Any) -> Any:
        """A variable's value on the chief, zeros on other workers; in a type that can be added."""
        dtype = variable.dtype.base_dtype
        if dtype not in (*_REDUCED, *_AS_INT32):
            raise ConfigError(
                f"the variable {variable.op.name} has the type {dtype.name}, which cannot be sent "
                "to other workers; train it with parameter servers (--num_ps_tasks)"
            )
        sent = tf.int32 if dtype in _AS_INT32 else dtype
        num_elements(variable)
        if self.rank:
            return tf.zeros(variable.shape, sent)
        with tf.device(variable.device):
            return tf.cast(tf.convert_to_tensor(variable), sent)


def worker_group(deployment: DeploymentConfig) -> AllReduceGroup | None:
    """Returns the group of a job's workers in the default graph; None if there is no such group.

    One worker alone, or workers with parameter servers, have none. Each call for a graph returns
    the same group, because two groups would give different collectives the same number.
    """
    if deployment.num_replicas == 1 or deployment.num_ps_tasks:
        return None
    graph = tf.get_default_graph()
    if graph in _GROUPS:
        return _GROUPS[graph]
    # Gradients of a single clone are on its device, sums of several clones on the optimizer's.
    alone = deployment.num_clones == 1
    device = deployment.clone_device(0) if alone else deployment.optimizer_device()
    group = AllReduceGroup(deployment.num_replicas, rank=deployment.replica_id, device=device)
    return _GROUPS.setdefault(graph, group)


def _known_slices(gradient: tf.IndexedSlices) -> bool:
    return bool(gradient.values.shape.is_fully_defined())


def sum_by_all_reduce(clones: Sequence[Clone], gradients: Sequence[GradsAndVars]) -> GradsAndVars:
    """Adds the gradients of the clones (copies of the model) between their devices.

    GPUs use NCCL. The variables are on the CPU: only the sum is copied there, not the gradients of
    every clone. Gradients that are sparse, or missing in a clone, are added as by `sum_gradients`,
    on the device of the variables.

    Args:
      clones: the clones, each on its own device.
      gradients: gradients of each clone.

    Raises:
      ConfigError: several clones share a device.
    """
    devices = [clone.device for clone in clones]
    if len(set(devices)) < len(devices):
        raise ConfigError(
            "--gradient_reduction all_reduce is for clones on different devices; they are on "
            f"{', '.join(sorted(set(devices)))}; leave out --clone_on_cpu, or the reduction"
        )
    added = sum_gradients(gradients)
    columns = [[gradient for gradient, _ in pairs] for pairs in zip(*gradients, strict=True)]
    dense = [
        i for i, column in enumerate(columns) if all(isinstance(g, tf.Tensor) for g in column)
    ][::-1]
    per_clone = [[shaped(*pairs[i]) for i in dense] for pairs in gradients]
    group = Collectives(len(clones), key=CLONES)
    with tf.name_scope("all_reduce_clones"):
        sums = dict(zip(dense, group.sum_members(per_clone, devices), strict=True))
    return [(sums.get(i, gradient), variable) for i, (gradient, variable) in enumerate(added)]
