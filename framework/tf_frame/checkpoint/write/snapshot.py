"""What a saver saves, found in its graph, and copied out of the variables between two steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


@dataclasses.dataclass(frozen=True)
class Shard:
    """Tensors that are written by one device.

    Attributes:
      device: that device; empty where none is said.
      names: their names in the checkpoint; the parts of a partitioned variable share one.
      slices: which part of a variable each is (`4,3 0,2:0,3`); empty for a whole one.
      tensors: reads of the variables.
    """

    device: str
    names: Sequence[str]
    slices: Sequence[str]
    tensors: Sequence[Any]


def shards_of(saver: Any) -> list[Shard]:
    """Finds what a `tf.compat.v1.train.Saver` saves; one shard, or one for each device.

    Raises:
      ValueError: it writes no checkpoint of version 2.
    """
    graph = tf.get_default_graph()
    save = graph.get_tensor_by_name(saver.saver_def.save_tensor_name)
    found = _save_ops(save.op)
    if not found:
        raise ValueError(f"the saver writes by {save.op.type} and not by SaveV2: {save.name}")
    return [_shard(op) for op in graph.get_operations() if op.name in found]


def with_extras(shards: Sequence[Shard], extras: Mapping[str, Any]) -> list[Shard]:
    """Adds tensors of other names.

    Where there are several shards they make up one of their own, for they live
    on the worker and not on a parameter server.

    Args:
      shards: what is there.
      extras: tensors by their name in the checkpoint.

    Raises:
      ValueError: a name is taken already.
    """
    taken = sorted({name for shard in shards for name in shard.names} & set(extras))
    if taken:
        raise ValueError(f"a variable is saved as {taken[0]!r} already; rename the extra tensor")
    if not extras:
        return list(shards)
    added = Shard("", list(extras), [""] * len(extras), list(extras.values()))
    return [*shards, added] if len(shards) > 1 else [_joined(shards[0], added)]


class FiniteCheck:
    """Which floating-point variables of the graph are finite; built into it once.

    Args:
      variables: those to look at; default: all global ones.
    """

    def __init__(self, variables: Iterable[Any] | None = None) -> None:
        chosen = tf.global_variables() if variables is None else variables
        floats = [v for v in chosen if v.dtype.base_dtype.is_floating]
        self.names = [v.op.name for v in floats]
        self.fetch = tf.stack([_all_finite(v) for v in floats]) if floats else tf.fill([0], True)

    def bad(self, finite: np.ndarray) -> list[str]:
        """Names of the variables that are not finite.

        Args:
          finite: bools `[variables]`, the value of `fetch`.
        """
        return [name for name, ok in zip(self.names, finite, strict=True) if not ok]


def take(session: Any, shard: Shard, check: FiniteCheck) -> tuple[list[np.ndarray], np.ndarray]:
    """Copies the tensors of a shard, and looks whether variables are finite, in one run.

    What is fetched does not change any more: TensorFlow copies a fetched tensor
    whose buffer somebody else holds, as a variable does (`tf_tensor_to_numpy` in
    python/lib/core/ndarray_tensor.cc), under resource and reference variables alike.

    Returns:
      The arrays, and the value of `check.fetch`.
    """
    values, finite = session.run([list(shard.tensors), check.fetch])
    return values, finite


def _all_finite(variable: Any) -> Any:
    # Beside the variable, so that one bit travels and not all of its values.
    with tf.device(variable.device):
        return tf.reduce_all(tf.is_finite(variable))


def _save_ops(last: Any) -> set[str]:
    """Names of the `SaveV2` operations that an operation needs."""
    found: set[str] = set()
    seen: set[str] = set()
    left = [last]
    while left:
        op = left.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.type == "SaveV2":
            found.add(op.name)
        else:
            left += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return found


def _shard(save: Any) -> Shard:
    _, names, slices, *tensors = save.inputs
    return Shard(save.device, _texts(names), _texts(slices), tensors)


def _texts(constant: Any) -> list[str]:
    return [text.decode() for text in tf.get_static_value(constant)]


def _joined(shard: Shard, more: Shard) -> Shard:
    return Shard(
        shard.device,
        [*shard.names, *more.names],
        [*shard.slices, *more.slices],
        [*shard.tensors, *more.tensors],
    )
