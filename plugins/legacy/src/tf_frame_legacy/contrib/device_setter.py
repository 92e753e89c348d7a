"""Strategies of tf.contrib.training that assign variables to parameter servers.

tf.train.replica_device_setter(
    ps_tasks=2, ps_strategy=GreedyLoadBalancingStrategy(2, byte_size_load_fn)
)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


class RandomStrategy:
    """Assigns a task by a hash of the variable's name.

    Args:
      num_ps_tasks: number of tasks.
      seed: part of what is hashed.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Any) -> int:
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False)
        return int(digest.hexdigest(), 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """Assigns the task with the least load so far.

    Args:
      num_tasks: number of tasks.
      load_fn: load of a variable's operation, such as `byte_size_load_fn`.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._loads, self._load_fn = np.zeros(num_tasks), load_fn

    def __call__(self, op: Any) -> int:
        task = int(np.argmin(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """Returns the size in bytes of a variable's operation.

    Raises:
      ValueError: several outputs, or an unknown shape.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    dtype, shape = op.outputs[0].dtype, op.outputs[0].shape
    if dtype == tf.resource or not shape.is_fully_defined():
        shape = tf.TensorShape(op.get_attr("shape"))
        dtype = tf.as_dtype(op.get_attr("dtype"))
    shape.assert_is_fully_defined()
    return int(shape.num_elements() * dtype.base_dtype.size)
