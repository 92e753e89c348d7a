"""Finds the tensors that a saver saves, checks that they are finite, and writes them.

A run cannot recover from NaN or infinity in a variable, so a step with such values is not saved.

`GraphWriter` saves in the training session, each shard on its own device. `ArrayWriter` saves
copies of the values while training goes on (`--async_checkpoint`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import NonFiniteError
from tf_frame.text import brief, listed


@dataclasses.dataclass(frozen=True)
class Shard:
    """Tensors that one device writes.

    Attributes:
      device: the device; may be empty.
      names: names in the checkpoint; the parts of a partitioned variable have the same name.
      slices: for a part of a variable, shape and place of the part (`4,3 0,2:0,3`); else empty.
      tensors: reads of the variables.
    """

    device: str
    names: Sequence[str]
    slices: Sequence[str]
    tensors: Sequence[Any]


def find_shards(saver: Any) -> list[Shard]:
    """Finds the tensors that a `tf.compat.v1.train.Saver` saves, as one shard or one per device.

    Raises:
      ValueError: the saver does not write checkpoints of version 2.
    """
    graph = tf.get_default_graph()
    save = graph.get_tensor_by_name(saver.saver_def.save_tensor_name)
    names = _save_ops(save.op)
    if not names:
        raise ValueError(f"the saver writes by {save.op.type} and not by SaveV2: {save.name}")
    return [_shard(op) for op in graph.get_operations() if op.name in names]


def add_extras(shards: Sequence[Shard], extras: Mapping[str, Any]) -> list[Shard]:
    """Adds further tensors: to a single shard, or as a new one next to several shards.

    Several shards are on parameter servers, and the further tensors are on the worker.

    Args:
      extras: tensors by their name in the checkpoint.

    Raises:
      ValueError: a name is taken already.
    """
    taken = sorted({name for shard in shards for name in shard.names} & set(extras))
    if taken:
        raise ValueError(
            f"a variable is saved as {brief(taken[0])} already; rename the extra tensor"
        )
    if not extras:
        return list(shards)
    added = Shard("", list(extras), [""] * len(extras), list(extras.values()))
    if len(shards) > 1:
        return [*shards, added]
    (only,) = shards
    names, slices = [*only.names, *added.names], [*only.slices, *added.slices]
    return [Shard(only.device, names, slices, [*only.tensors, *added.tensors])]


class FiniteCheck:
    """Refuses to save a model that diverged; built into the default graph once.

    Args:
      allow_infinite_state: whether floating-point variables that are not trainable may hold
        infinity, such as the lowest loss so far. NaN, or infinity elsewhere, is never allowed.

    Attributes:
      fetch: bools `[variables]`: whether each floating-point variable is sound, group by group.
    """

    def __init__(self, *, allow_infinite_state: bool = False) -> None:
        floats = [v for v in tf.global_variables() if v.dtype.base_dtype.is_floating]
        groups = _groups(floats, allow_infinite_state)
        self._names = [v.op.name for v in floats]
        self._checked_names = [v.op.name for group in groups for v in group.variables]
        made = tf.get_collection_ref(f"tf_frame/finite_check/{allow_infinite_state}")
        # The graph of an earlier session has the check, and may be finalized.
        if not made or made[0].shape.as_list() != [len(floats)]:
            with tf.name_scope("check_finite"):
                axes = functools.cache(_axes)
                single = [group.sound(axes) for group in groups if len(group.variables) == 1]
                several = [group.sound(axes) for group in groups if len(group.variables) > 1]
                first = tf.stack(single) if single else tf.fill([0], True)
                made[:] = [tf.concat([first, *several], axis=0) if several else first]
        self.fetch = made[0]

    def check(self, sound: np.ndarray, step: int) -> None:
        """Checks the value of `fetch` before a save; the message names the global step.

        Raises:
          NonFiniteError: a variable is not sound.
        """
        is_sound = dict(zip(self._checked_names, sound, strict=True))
        bad = [name for name in self._names if not is_sound[name]]
        if bad:
            raise NonFiniteError(
                f"{len(bad)} variables hold NaN or infinity at global step {step}, first "
                f"{listed(bad[:3])}; the step was not saved. Lower the learning rate",
                step=step,
            )


def copy_tensors(
    session: Any, shard: Shard, check: FiniteCheck
) -> tuple[list[np.ndarray], np.ndarray]:
    """Copies the tensors of a shard, and checks variables, in one run.

    Later steps do not change the arrays: TensorFlow copies a fetched tensor if its buffer belongs
    to a variable (`tf_tensor_to_numpy` in python/lib/core/ndarray_tensor.cc), for resource and
    reference variables.

    Returns:
      The arrays, and the value of `check.fetch`.
    """
    values, sound = session.run([list(shard.tensors), check.fetch])
    return values, sound


def _groups(variables: Iterable[Any], allow_infinite_state: bool) -> list[_Group]:
    """Returns groups: first single variables, then all vectors of one size, type and device.

    Models have many small vectors, such as those of batch norm, which are quick to copy.
    """
    trained = {id(variable) for variable in tf.trainable_variables()}
    groups: dict[Any, _Group] = {}
    for variable in variables:
        allows_infinity = allow_infinite_state and id(variable) not in trained
        kind: Any = id(variable)
        if variable.shape.rank == 1 and variable.shape.is_fully_defined():
            # TensorFlow 1's dimensions are no keys.
            size = variable.shape.num_elements()
            kind = variable.device, variable.dtype.base_dtype, size, allows_infinity
        groups.setdefault(kind, _Group(allows_infinity, [])).variables.append(variable)
    return sorted(groups.values(), key=lambda group: len(group.variables) > 1)


class _Group(NamedTuple):
    """Variables that are checked together, on one device."""

    allows_infinity: bool
    variables: list[Any]

    def sound(self, constant_axes: Any) -> Any:
        """Returns whether the variables are sound: a bool for one, else `[variables]`.

        Args:
          constant_axes: returns a constant on a device: the axes from one number to another.
        """
        graph, device = tf.get_default_graph(), self.variables[0].device
        # The read that each variable has.
        values = [graph.as_graph_element(variable) for variable in self.variables]
        # On the variables' device, which sends bits instead of all values.
        with tf.device(device):
            value, first = (tf.stack(values), 1) if len(values) > 1 else (values[0], 0)
            rank = value.shape.rank
            axes = tf.range(tf.rank(value)) if rank is None else constant_axes(device, first, rank)
            if self.allows_infinity:
                return tf.logical_not(tf.raw_ops.Any(input=tf.is_nan(value), axis=axes))
            return tf.raw_ops.All(input=tf.is_finite(value), axis=axes)


def _axes(device: str, first: int, end: int) -> Any:
    del device  # One constant for each device.
    return tf.constant([*range(first, end)], tf.int32)


def _save_ops(last: Any) -> set[str]:
    """Returns the names of the `SaveV2` operations that an operation depends on."""
    seen: dict[str, Any] = {}
    waiting = [last]
    while waiting:
        op = waiting.pop()
        if op.name not in seen:
            seen[op.name] = op
            if op.type != "SaveV2":
                waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return {name for name, op in seen.items() if op.type == "SaveV2"}


def _shard(save: Any) -> Shard:
    _, names, slices, *tensors = save.inputs
    return Shard(save.device, _texts(names), _texts(slices), tensors)


def _texts(constant: Any) -> list[str]:
    return [text.decode() for text in tf.get_static_value(constant)]


class GraphWriter:
    """Writes the variables in the training graph, each shard on its own device."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        with tf.name_scope("save_checkpoint"), tf.device(None):
            self._prefix = tf.placeholder(tf.string, [], name="prefix")
            if len(shards) == 1:
                self._write = _save(shards[0], self._prefix, shards[0].tensors)
            else:
                self._write = self._merged(shards)

    def write(self, session: Any, prefix: str, fetches: Any = ()) -> Any:
        """Writes a checkpoint to a path prefix, by the training session.

        Returns:
          The values of `fetches`, of the same run: TensorFlow prepares the graph for each set of
          fetches, and reads the variables once.
        """
        return session.run((self._write, fetches), {self._prefix: prefix})[1]

    def _merged(self, shards: Sequence[Shard]) -> Any:
        parts = [
            tf.strings.join([self._prefix, f"_temp/part-{i:05d}-of-{len(shards):05d}"])
            for i in range(len(shards))
        ]
        written = [
            _save(shard, part, shard.tensors) for shard, part in zip(shards, parts, strict=True)
        ]
        with tf.control_dependencies(written), tf.device(shards[0].device):
            return tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=tf.stack(parts),
                destination_prefix=self._prefix,
                delete_old_dirs=True,
            )


class ArrayWriter:
    """Writes arrays in a separate graph and session; any thread may use it.

    Args:
      shard: names, slices and types of the arrays.
    """

    def __init__(self, shard: Shard) -> None:
        with tf.Graph().as_default() as graph:
            self._prefix = tf.placeholder(tf.string, [])
            self._tensors = [tf.placeholder(tensor.dtype.base_dtype) for tensor in shard.tensors]
            # The shard's device belongs to the training session.
            self._write = _save(dataclasses.replace(shard, device=""), self._prefix, self._tensors)
        self._session = tf.Session(graph=graph, config=tf.ConfigProto(device_count={"GPU": 0}))

    def write(self, values: Sequence[np.ndarray], prefix: str) -> None:
        """Writes a checkpoint."""
        fed = dict(zip(self._tensors, values, strict=True))
        self._session.run(self._write, {self._prefix: prefix, **fed})

    def close(self) -> None:
        """Closes the session."""
        self._session.close()


def _save(shard: Shard, prefix: Any, tensors: Sequence[Any]) -> Any:
    with tf.device(shard.device):
        return tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=list(shard.names),
            shape_and_slices=list(shard.slices),
            tensors=list(tensors),
        )
