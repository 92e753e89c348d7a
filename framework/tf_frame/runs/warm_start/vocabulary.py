"""Warm start of variables with a row or column for each entry of a vocabulary.

The vocabulary may have grown or changed its order since the checkpoint: every entry keeps its
values. New entries, and the buckets for words outside of the vocabulary, get values of the backup
initializer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, saved_name_and_shape
from tf_frame.text import brief, short


@dataclasses.dataclass(frozen=True)
class Remapped:
    """A variable with rows or columns that are restored by the entries of a vocabulary.

    Attributes:
      name, source: name in the graph, and in the checkpoint.
      axis: axis of the vocabulary.
      rows: index in the checkpoint of each entry and each bucket; -1 for a new one.
      value: placeholder for the value of the whole variable.
      assign: ops that assign `value` to the variable and its moving average.
      backup: tensor of the variable's shape with values of new entries; None for zeros.
      checkpoint: the checkpoint.
    """

    name: str
    source: str
    axis: int
    rows: Any
    value: Any
    assign: Sequence[Any]
    backup: Any
    checkpoint: Checkpoint

    def load(self, session: Any) -> None:
        """Assigns the value; raises a CheckpointError if the checkpoint is damaged."""
        old = self.checkpoint.read(self.source)
        shape = self.value.shape.as_list()
        new = np.zeros(shape, old.dtype) if self.backup is None else session.run(self.backup)
        has_row = self.rows >= 0
        index = (slice(None),) * self.axis
        new[(*index, has_row)] = np.take(old, self.rows[has_row], axis=self.axis)
        session.run(list(self.assign), {self.value: new})

    def line(self) -> str:
        """Returns the line of the variable in the report."""
        restored = int(np.sum(self.rows >= 0))
        return (
            f"by vocabulary  {self.name} {self.value.shape.as_list()}: {restored} of "
            f"{len(self.rows)} entries from {self.source} {self.checkpoint.shape(self.source)}, "
            f"the others {'zero' if self.backup is None else 'by the backup initializer'}"
        )


def remap(
    name: str, parts: Sequence[Any], info: Any, source: str, checkpoint: Checkpoint
) -> Remapped:
    """Reads the vocabularies and adds the ops that assign a variable to the default graph.

    Args:
      name, source: name of the variable in the graph, and in the checkpoint.
      parts: the variable, or the parts of a partitioned variable.
      info: the `VocabInfo` of the variable.
      checkpoint: the checkpoint.

    Raises:
      ValueError: the variable is not in the checkpoint, a shape or type does not fit, or a
        vocabulary is too short or has an entry twice.
    """
    check_same_type(name, parts, source, checkpoint)
    rows = _rows(info)
    shape = saved_name_and_shape(parts)[1]
    _check_shapes(parts[0].name, shape, source, info, len(rows), checkpoint)
    _check_old_size(rows, source, info, checkpoint)
    dtype = parts[0].dtype.base_dtype
    with tf.name_scope("warm_start"), tf.device("/cpu:0"):
        value = tf.placeholder(dtype, shape)
        backup = info.backup_initializer
        initial = None if backup is None else tf.identity(backup(shape, dtype=dtype))
        assign = [op for part in parts for op in _assign(part, value)]
    return Remapped(name, source, info.axis, rows, value, assign, initial, checkpoint)


def check_same_type(name: str, parts: Sequence[Any], source: str, checkpoint: Checkpoint) -> None:
    """Checks that a checkpoint has a variable of the same type.

    Raises:
      ValueError: the variable is missing or has another type; with the texts of
        `tf.compat.v1.train.init_from_checkpoint`.
    """
    if source not in checkpoint:
        shapes = {saved_name: checkpoint.shape(saved_name) for saved_name in checkpoint.names}
        raise ValueError(
            f"Tensor {short(source)} is not found in {short(checkpoint.path)} checkpoint "
            f"{shapes}: the variable {name} has no value there; map its name with "
            "var_name_to_prev_var_name, or leave it out of vars_to_warm_start"
        )
    dtype, saved_dtype = parts[0].dtype.base_dtype, checkpoint.dtype(source)
    if dtype != saved_dtype:
        raise ValueError(
            f"Type of variable {parts[0].name} ({dtype.name}) doesn't match with type of tensor "
            f"{short(source)} ({saved_dtype.name}) from checkpoint reader."
        )


def _assign(part: Any, value: Any) -> Sequence[Any]:
    """Returns ops that assign a slice of a value to a part and to its moving average, if any."""
    place = part._get_save_slice_info()
    piece = value if place is None else tf.slice(value, place.var_offset, place.var_shape)
    names = (part.op.name, part.op.name + "/ExponentialMovingAverage")
    return [v.assign(piece).op for v in tf.global_variables() if v.op.name in names]


def _rows(info: Any) -> Any:
    """Returns the index in the old vocabulary of each new entry and each bucket."""
    old = _entries(info.old_vocab, info.old_vocab_size)
    if len(set(old)) < len(old):
        duplicate = next(entry for entry in old if old.count(entry) > 1)
        raise ValueError(f"the vocabulary {info.old_vocab} has the entry {brief(duplicate)} twice")
    if info.num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be >= 0, but received {info.num_oov_buckets}")
    places = {entry: place for place, entry in enumerate(old)}
    new = _entries(info.new_vocab, info.new_vocab_size)
    rows = [places.get(entry, -1) for entry in new]
    return np.array(rows + [-1] * info.num_oov_buckets, np.int64)


def _entries(path: str, size: int) -> list[bytes]:
    """Reads the first `size` entries of a vocabulary file, one a line; all entries for -1."""
    if not path or not size:
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, "
            "prev_ckpt, "
            f"prev_vocab_path}}; a VocabInfo has the vocabulary {brief(path)} of size {size}"
        )
    with tf.io.gfile.GFile(path, "rb") as file:
        entries: list[bytes] = [line.removesuffix(b"\r") for line in file.read().split(b"\n")]
    if not entries[-1]:
        entries.pop()
    if len(entries) < size:
        raise ValueError(f"the vocabulary {short(path)} has {len(entries)} entries, not {size}")
    return entries if size < 0 else entries[:size]


def _check_shapes(
    variable: str, shape: Sequence[int], source: str, info: Any, size: int, checkpoint: Checkpoint
) -> None:
    """Compares the axis of the vocabulary with its size, other axes with the checkpoint."""
    saved_shape, axis = checkpoint.shape(source), info.axis
    if axis >= len(shape) or shape[axis] != size:
        raise ValueError(
            f"Shape of variable {variable} ({tuple(shape)}) doesn't match with its vocabulary: "
            f"dimension {axis} must be new_vocab_size ({info.new_vocab_size}) + num_oov_buckets "
            f"({info.num_oov_buckets})"
        )
    saved, current = ([n for i, n in enumerate(s) if i != axis] for s in (saved_shape, shape))
    if len(saved_shape) != len(shape) or saved != current:
        raise ValueError(
            f"Shape of variable {variable} ({tuple(shape)}) doesn't match with shape of tensor "
            f"{short(source)} ({saved_shape}) from checkpoint reader, not counting dimension "
            f"{axis}."
        )


def _check_old_size(rows: Any, source: str, info: Any, checkpoint: Checkpoint) -> None:
    needed, available = int(rows.max(initial=-1)) + 1, checkpoint.shape(source)[info.axis]
    if needed > available:
        raise ValueError(
            f"the old vocabulary {info.old_vocab} does not belong to {short(source)}, which has "
            f"{available} entries in {short(checkpoint.path)}; entry {needed} of it is wanted"
        )
