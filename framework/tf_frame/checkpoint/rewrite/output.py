"""Writes checkpoints from NumPy arrays, and checks the destination before any work.

`tf-frame checkpoint rename` and `average` use this module: they have no graph for a `Saver`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import listed_checkpoints
from tf_frame.checkpoint.find.path import checkpoint_exists, checkpoint_files, same_path
from tf_frame.checkpoint.names import (
    LIST_FILE,
    check_no_pattern,
    checkpoint_path,
    checkpoint_prefix,
)
from tf_frame.checkpoint.write.folder import atomic_checkpoint, write_list
from tf_frame.checkpoint.write.snapshot import ArrayWriter, Shard
from tf_frame.errors import CheckpointError, ConfigError, translated_write_errors
from tf_frame.text import short

# Arrays are held in memory up to this size, then written as one data file.
_SHARD_BYTES = 2**28

# Name, `tf.DType` and array of a variable.
NamedArray = tuple[str, Any, Any]


def check_destination(path: str, sources: Iterable[str], *, overwrite: bool) -> str:
    """Checks the path of a new checkpoint, before any work.

    Args:
      path: the path that the user gives.
      sources: path prefixes of the checkpoints that are read, and never written.
      overwrite: whether a checkpoint of the same name may be replaced.

    Returns:
      The path prefix of the new checkpoint.

    Raises:
      ConfigError: nothing can be written there.
    """
    check_no_pattern(path, "the checkpoint")
    prefix = checkpoint_prefix(path if os.path.dirname(path) else os.path.join(".", path))
    if tf.io.gfile.isdir(prefix) or not os.path.basename(prefix):
        example = checkpoint_path(prefix, 0)
        raise ConfigError(f"{short(path)} is a folder; name the checkpoint, such as {example}")
    if os.path.basename(prefix) == LIST_FILE:
        raise ConfigError(
            f"{short(path)}: a file of this name lists checkpoints; take another name"
        )
    if os.path.realpath(prefix) in {os.path.realpath(source) for source in sources}:
        raise ConfigError(f"{short(path)} is itself read; write to another name")
    if (checkpoint_exists(prefix) or checkpoint_files(prefix)) and not overwrite:
        raise ConfigError(
            f"{short(path)} exists; take another name, or replace it with --overwrite"
        )
    return prefix


def write_checkpoint(prefix: str, arrays: Iterable[NamedArray]) -> None:
    """Writes a checkpoint, and lists it as the newest one of its folder.

    Replaces a checkpoint of the same name. A failure leaves the folder unchanged.

    Args:
      prefix: path prefix of the checkpoint; its folder is created if it does not exist.
      arrays: name, `tf.DType` and array of each variable; read one by one.

    Raises:
      CheckpointError: the checkpoint could not be written.
    """
    folder = os.path.dirname(prefix)

    def publish() -> None:
        listed = [path for path in listed_checkpoints(folder) if checkpoint_exists(path)]
        write_list(folder, [*(path for path in listed if not same_path(path, prefix)), prefix])

    with translated_write_errors(
        f"the checkpoint {prefix} could not be written",
        f"nothing of it was left behind; free space in {folder} and check that it can be written",
        error_class=CheckpointError,
    ):
        atomic_checkpoint(prefix, lambda new: _write(new, arrays), publish=publish)


def _write(prefix: str, arrays: Iterable[NamedArray]) -> None:
    """Writes variables in parts that fit into memory, and merges the parts."""
    parts = []
    for number, shard in enumerate(_split_into_shards(arrays)):
        parts.append(f"{prefix}_temp/part-{number}")
        _write_part(parts[-1], shard)
    config = tf.ConfigProto(device_count={"GPU": 0})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.run(
            tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
        )


def _split_into_shards(arrays: Iterable[NamedArray]) -> Iterator[Sequence[NamedArray]]:
    shard: list[NamedArray] = []
    size_bytes = 0
    for array in arrays:
        shard.append(array)
        size_bytes += array[2].nbytes
        if size_bytes >= _SHARD_BYTES:
            yield shard
            shard, size_bytes = [], 0
    if shard:
        yield shard


def _write_part(prefix: str, arrays: Sequence[NamedArray]) -> None:
    specs = [tf.TensorSpec(value.shape, dtype) for _, dtype, value in arrays]
    shard = Shard("", [name for name, _, _ in arrays], [""] * len(arrays), specs)
    with contextlib.closing(ArrayWriter(shard)) as writer:
        writer.write([value for _, _, value in arrays], prefix)
