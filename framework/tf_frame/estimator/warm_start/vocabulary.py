"""Variables whose rows or columns belong to the entries of a vocabulary.

Between the checkpoint and now the vocabulary may have grown, or be in another
order: every entry takes its own values along. Entries that are new, and the
buckets for what is in no vocabulary, begin with the backup initializer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import saved_as
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.estimator.warm_start.whole_variables import check_there, check_type

VocabInfo = tf.train.VocabInfo


@dataclasses.dataclass(frozen=True)
class Remapped:
    """A variable to be set by its vocabulary.

    Attributes:
      name, source: its name in the graph and in the checkpoint.
      axis: the one of the vocabulary.
      rows: for each entry, and each bucket, its place in the checkpoint; -1 if it is new.
      value: a placeholder for the value of the whole variable.
      assign: ops that set the variable and its moving average to it.
      backup: initial value where an entry is new, of the whole variable; None for zeros.
      checkpoint: where the value comes from.
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
        """Sets the variable.

        Raises:
          CheckpointError: the data of the checkpoint is damaged.
        """
        old = self.checkpoint.read(self.source)
        shape = self.value.shape.as_list()
        new = np.zeros(shape, old.dtype) if self.backup is None else session.run(self.backup)
        known = self.rows >= 0
        index = (slice(None),) * self.axis
        new[(*index, known)] = np.take(old, self.rows[known], axis=self.axis)
        session.run(list(self.assign), {self.value: new})

    def line(self) -> str:
        """What is said about it."""
        known = int(np.sum(self.rows >= 0))
        return (
            f"by vocabulary  {self.name} {self.value.shape.as_list()}: {known} of {len(self.rows)} "
            f"entries from {self.source} {self.checkpoint.shape(self.source)}, the others "
            f"{'zero' if self.backup is None else 'by the backup initializer'}"
        )


def remapped(
    name: str, parts: Sequence[Any], info: Any, source: str, checkpoint: Checkpoint
) -> Remapped:
    """Reads the vocabularies, and adds the ops that set a variable to the default graph.

    Args:
      name: of the variable.
      parts: the variable, or the parts of a partitioned one.
      info: its `VocabInfo`.
      source: its name in the checkpoint.
      checkpoint: where values come from.

    Raises:
      ValueError: the variable is not in the checkpoint, a shape or type does
        not fit, or a vocabulary is too short or names an entry twice.
    """
    check_there(name, source, checkpoint)
    check_type(parts, source, checkpoint)
    rows = _rows(info)
    shape = saved_as(parts)[1]
    _check_shapes(parts[0].name, shape, source, info, len(rows), checkpoint)
    _check_old_size(rows, source, info, checkpoint)
    dtype = parts[0].dtype.base_dtype
    with tf.name_scope("warm_start"), tf.device("/cpu:0"):
        value = tf.placeholder(dtype, shape)
        backup = info.backup_initializer
        initial = None if backup is None else tf.identity(backup(shape, dtype=dtype))
        assign = [op for part in parts for op in _assigned(part, value)]
    return Remapped(name, source, info.axis, rows, value, assign, initial, checkpoint)


def _assigned(part: Any, value: Any) -> Sequence[Any]:
    """Ops that set a part, and its moving average where there is one, to its slice of a value."""
    place = part._get_save_slice_info()
    mine = value if place is None else tf.slice(value, place.var_offset, place.var_shape)
    names = (part.op.name, part.op.name + "/ExponentialMovingAverage")
    return [v.assign(mine).op for v in tf.global_variables() if v.op.name in names]


def _rows(info: Any) -> Any:
    """Where each entry of the new vocabulary, and each bucket, stands in the old one."""
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
    """The first entries of a vocabulary file, which has one in a line; all for -1."""
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
    """Compares the variable with its vocabulary, and along the other axes with the checkpoint."""
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
