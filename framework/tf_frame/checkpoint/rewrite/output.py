"""Writes checkpoints from NumPy arrays, and checks their destination before any work.

Used by `tf-frame checkpoint rename` and `average`; no graph of the model is needed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import known_checkpoints
from tf_frame.checkpoint.find.path import exists, files_of, prefix_of, same_path
from tf_frame.checkpoint.write.folder import atomic_checkpoint, write_list
from tf_frame.checkpoint.write.snapshot import ArrayWriter, Shard
from tf_frame.errors import CheckpointError, ConfigError, translated_write_errors

# Arrays are held in memory up to this size, then written as one data file.
_SHARD_BYTES = 2**28

# Name, `tf.DType` and array of a variable.
Tensor = tuple[str, Any, Any]


def destination(path: str, sources: Iterable[str], *, overwrite: bool) -> str:
    """Checks the place of a new checkpoint, before any work.

    Args:
      path: the place as the user names it.
      sources: path prefixes of the checkpoints that are read; none of them is ever written.
      overwrite: whether a checkpoint of the same name may be replaced.

    Returns:
      The path prefix of the new checkpoint.

    Raises:
      ConfigError: nothing can be written there.
    """
    prefix = prefix_of(path) if os.path.dirname(path) else os.path.join(".", prefix_of(path))
    if tf.io.gfile.isdir(prefix) or not os.path.basename(prefix):
        example = os.path.join(prefix, "model.ckpt-0")
        raise ConfigError(f"{path} is a folder; name the checkpoint, such as {example}")
    if os.path.basename(prefix) == "checkpoint":
        raise ConfigError(f"{path}: a file of this name lists checkpoints; take another name")
    if os.path.realpath(prefix) in {os.path.realpath(source) for source in sources}:
        raise ConfigError(f"{path} is itself read; write to another name")
    if (exists(prefix) or files_of(prefix)) and not overwrite:
        raise ConfigError(f"{path} exists; take another name, or replace it with --overwrite")
    return prefix


def write_checkpoint(prefix: str, tensors: Iterable[Tensor]) -> None:
    """Writes a checkpoint, and lists it as the newest one of its folder.

    The checkpoint replaces one of the same name. A failure leaves everything as it was.

    Args:
      prefix: path prefix of the checkpoint; its folder is made where there is none.
      tensors: name, `tf.DType` and array of each variable; taken one by one.

    Raises:
      CheckpointError: the checkpoint could not be written.
    """
    folder = os.path.dirname(prefix)

    def publish() -> None:
        others = [p for p in known_checkpoints(folder) if exists(p) and not same_path(p, prefix)]
        write_list(folder, [*others, prefix])

    with translated_write_errors(
        f"the checkpoint {prefix} could not be written",
        f"nothing of it was left behind; free space in {folder} and check that it can be written",
        error_class=CheckpointError,
    ):
        atomic_checkpoint(prefix, lambda new: _write(new, tensors), publish=publish)


def _write(prefix: str, tensors: Iterable[Tensor]) -> None:
    """Writes variables in parts that fit into memory, and merges the parts."""
    parts = []
    for number, shard in enumerate(_shards(tensors)):
        parts.append(f"{prefix}_temp/part-{number}")
        _write_part(parts[-1], shard)
    config = tf.ConfigProto(device_count={"GPU": 0})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.run(
            tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
        )


def _shards(tensors: Iterable[Tensor]) -> Iterator[Sequence[Tensor]]:
    shard: list[Tensor] = []
    size_bytes = 0
    for tensor in tensors:
        shard.append(tensor)
        size_bytes += tensor[2].nbytes
        if size_bytes >= _SHARD_BYTES:
            yield shard
            shard, size_bytes = [], 0
    if shard:
        yield shard


def _write_part(prefix: str, tensors: Sequence[Tensor]) -> None:
    specs = [tf.TensorSpec(value.shape, dtype) for _, dtype, value in tensors]
    shard = Shard("", [name for name, _, _ in tensors], [""] * len(tensors), specs)
    with contextlib.closing(ArrayWriter(shard)) as writer:
        writer.write([value for _, _, value in tensors], prefix)
