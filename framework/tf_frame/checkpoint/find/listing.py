"""Which checkpoints a folder holds."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import damage_of, known_checkpoints
from tf_frame.checkpoint.find.path import checkpoints_in, prefix_of
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Entry:
    """One checkpoint.

    Attributes:
      path: its path prefix.
      step: its global step; None if it holds none.
      saved_at_secs: when its newest file was written, in seconds since 1970; None
        if no file is there.
      size_bytes: its files together.
      damage: why it cannot be read; empty if it can be.
      variables: how many it holds; None if it cannot be read.
      parameters: how many numbers they hold, those of the optimizer too; None likewise.
    """

    path: str
    step: int | None
    saved_at_secs: float | None
    size_bytes: int
    damage: str
    variables: int | None
    parameters: int | None


def list_checkpoints(folder: str) -> Sequence[Entry]:
    """Describes every checkpoint of a folder, oldest first; each is read once.

    Checkpoints that the `checkpoint` file lists but that are gone count as damaged.

    Raises:
      ConfigError: there is no such folder.
    """
    if not tf.io.gfile.isdir(folder):
        raise ConfigError(
            f"{folder} is no folder; tf-frame checkpoint show {prefix_of(folder)} describes one "
            "checkpoint"
            if tf.io.gfile.exists(prefix_of(folder) + ".index")
            else f"there is no folder {folder}"
        )
    there = checkpoints_in(folder)
    gone = [path for path in known_checkpoints(folder) if path not in there]
    return [_entry(path) for path in [*gone, *there]]


def _entry(path: str) -> Entry:
    stats = [tf.io.gfile.stat(file) for file in files_of(path)]
    saved_at_secs = max((stat.mtime_nsec / 1e9 for stat in stats), default=None)
    size_bytes = sum(stat.length for stat in stats)
    damage = damage_of(path)
    if damage:
        return Entry(path, None, saved_at_secs, size_bytes, damage, None, None)
    checkpoint = Checkpoint(path)
    return Entry(
        path,
        checkpoint.global_step,
        saved_at_secs,
        size_bytes,
        "",
        len(checkpoint.names),
        checkpoint.parameters,
    )


def files_of(prefix: str) -> Sequence[str]:
    """The files that make up a checkpoint: index, data, and its meta graph if there is one."""
    folder, name = os.path.split(prefix)
    if not tf.io.gfile.isdir(folder or "."):
        return []
    files = [file for file in sorted(tf.io.gfile.listdir(folder or ".")) if prefix_of(file) == name]
    paths = [os.path.join(folder, file) for file in files]
    return [path for path in paths if not tf.io.gfile.isdir(path)]
