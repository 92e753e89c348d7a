"""Warm start of variables whose rows or columns belong to the entries of a vocabulary.

So embeddings need not be learned anew when words are added: the vocabulary may have grown or
changed its order since the checkpoint, and every entry keeps its values. New entries, and the
buckets for words outside of the vocabulary, begin with the backup initializer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, saved_name_and_shape


@dataclasses.dataclass(frozen=True)
class Remapped:
    """A variable whose rows or columns are restored by the entries of a vocabulary.

    Attributes:
      name, source: its name in the graph and in the checkpoint.
      axis: axis of the vocabulary.
      rows: index in the checkpoint of each entry and each bucket; -1 for new ones.
      value: placeholder for the value of the whole variable.
      assign: ops that assign `value` to the variable and its moving average.
      backup: tensor with the values of new entries, of the shape of the variable; None for zeros.
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
        known = self.rows >= 0
        index = (slice(None),) * self.axis
        new[(*index, known)] = np.take(old, self.rows[known], axis=self.axis)
        session.run(list(self.assign), {self.value: new})

    def line(self) -> str:
        """Returns the line of the variable in the report."""
        known = int(np.sum(self.rows >= 0))
        return (
            f"by vocabulary  {self.name} {self.value.shape.as_list()}: {known} of {len(self.rows)} "
            f"entries from {self.source} {self.checkpoint.shape(self.source)}, the others "
            f"{'zero' if self.backup is None else 'by the backup initializer'}"
        )


def remapped(
    name: str, parts: Sequence[Any], info: Any, source: str, checkpoint: Checkpoint
) -> Remapped:
    """Reads the vocabularies and adds the ops that assign a variable to the default graph.

    Args:
      name: name of the variable.
      parts: the variable, or the parts of a partitioned variable.
      info: its `VocabInfo`.
      source: its name in the checkpoint.
      checkpoint: the checkpoint.

    Raises:
      ValueError: the variable is not in the checkpoint, a shape or type does
        not fit, or a vocabulary is too short or names an entry twice.
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
        assign = [op for part in parts for op in _assigned(part, value)]
    return Remapped(name, source, info.axis, rows, value, assign, initial, checkpoint)


def check_same_type(name: str, parts: Sequence[Any], source: str, checkpoint: Checkpoint) -> None:
    """Checks that a checkpoint has a variable, and of the same type.

    Raises:
      ValueError: it has not; texts of `tf.compat.v1.train.init_from_checkpoint`.
    """
    if source not in checkpoint:
        shapes = {each: checkpoint.shape(each) for each in checkpoint.names}
        raise ValueError(
            f"Tensor {source} is not found in {checkpoint.path} checkpoint {shapes}: the variable "
            f"{name} has no value there; map its name with var_name_to_prev_var_name, or leave it "
            "out of vars_to_warm_start"
        )
    dtype, found = parts[0].dtype.base_dtype, checkpoint.dtype(source)
    if dtype != found:
        raise ValueError(
            f"Type of variable {parts[0].name} ({dtype.name}) doesn't match with type of tensor "
            f"{source} ({found.name}) from checkpoint reader."
        )


def _assigned(part: Any, value: Any) -> Sequence[Any]:
    """Returns ops that assign a slice of a value to a part and to its moving average, if any."""
    place = part._get_save_slice_info()
    mine = value if place is None else tf.slice(value, place.var_offset, place.var_shape)
    names = (part.op.name, part.op.name + "/ExponentialMovingAverage")
    return [v.assign(mine).op for v in tf.global_variables() if v.op.name in names]


def _rows(info: Any) -> Any:
    """Returns the index in the old vocabulary of each new entry and each bucket."""
    old = _entries(info.old_vocab, info.old_vocab_size)
    if len(set(old)) < len(old):
        twice = next(entry for entry in old if old.count(entry) > 1)
        raise ValueError(f"the vocabulary {info.old_vocab} has the entry {twice!r} twice")
    if info.num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be >= 0, but received {info.num_oov_buckets}")
    places = {entry: place for place, entry in enumerate(old)}
    new = _entries(info.new_vocab, info.new_vocab_size)
    rows = [places.get(entry, -1) for entry in new]
    return np.array(rows + [-1] * info.num_oov_buckets, np.int64)


def _entries(path: str, size: int) -> list[bytes]:
    """Reads the first entries of a vocabulary file, one a line; all entries for -1."""
    if not path or not size:
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, "
            f"prev_ckpt, prev_vocab_path}}; a VocabInfo has the vocabulary {path!r} of size {size}"
        )
    with tf.io.gfile.GFile(path, "rb") as file:
        entries: list[bytes] = [line.removesuffix(b"\r") for line in file.read().split(b"\n")]
    if not entries[-1]:
        entries.pop()
    if len(entries) < size:
        raise ValueError(f"the vocabulary {path} has {len(entries)} entries, not {size}")
    return entries if size < 0 else entries[:size]


def _check_shapes(
    variable: str, shape: Sequence[int], source: str, info: Any, size: int, checkpoint: Checkpoint
) -> None:
    """Compares the axis of the vocabulary with its size, other axes with the checkpoint."""
    found, axis = checkpoint.shape(source), info.axis
    if axis >= len(shape) or shape[axis] != size:
        raise ValueError(
            f"Shape of variable {variable} ({tuple(shape)}) doesn't match with its vocabulary: "
            f"dimension {axis} must be new_vocab_size ({info.new_vocab_size}) + num_oov_buckets "
            f"({info.num_oov_buckets})"
        )
    others = [n for i, n in enumerate(shape) if i != axis]
    if len(found) != len(shape) or [n for i, n in enumerate(found) if i != axis] != others:
        raise ValueError(
            f"Shape of variable {variable} ({tuple(shape)}) doesn't match with shape of tensor "
            f"{source} ({found}) from checkpoint reader, not counting dimension {axis}."
        )


def _check_old_size(rows: Any, source: str, info: Any, checkpoint: Checkpoint) -> None:
    needed, there = int(rows.max(initial=-1)) + 1, checkpoint.shape(source)[info.axis]
    if needed > there:
        raise ValueError(
            f"the old vocabulary {info.old_vocab} does not belong to {source}, which has {there} "
            f"entries in {checkpoint.path}; entry {needed} of it is wanted"
        )
