"""Writes a checkpoint from arrays: whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.listing import files_of
from tf_frame.checkpoint.find.newest import known_checkpoints
from tf_frame.checkpoint.find.path import exists, prefix_of
from tf_frame.errors import CheckpointError, ConfigError, reason_of

# Arrays are held in memory up to this size, then written as one data file.
_SHARD_BYTES = 2**28

Tensor = tuple[str, Any, Any]


def destination(path: str, sources: Iterable[str], *, overwrite: bool) -> str:
    """Checks where a checkpoint is to be written, before any work.

    Args:
      path: what the user calls it.
      sources: path prefixes of what is read; none of them is ever written.
      overwrite: whether a checkpoint of that name may be replaced.

    Returns:
      The path prefix.

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
    """Writes a checkpoint, and names it as the newest in the folder's `checkpoint` file.

    It is written under another name and then renamed; what was there before is
    replaced. A failure leaves everything as it was.

    Args:
      prefix: its path prefix; its folder is made where there is none.
      tensors: name, `tf.DType` and array of each variable; taken one by one.

    Raises:
      CheckpointError: it could not be written.
    """
    try:
        with _folder_of(prefix), _workshop(prefix) as workshop:
            whole = os.path.join(workshop, "new", os.path.basename(prefix))
            _merge(list(_write_shards(workshop, tensors)), whole)
            _put_in_place(whole, prefix, os.path.join(workshop, "old"))
    except (tf.errors.OpError, OSError) as error:
        raise CheckpointError(
            f"the checkpoint {prefix} could not be written: {reason_of(error)}\nnothing of it was "
            f"left behind; free space in {os.path.dirname(prefix)} and check that it can "
            "be written"
        ) from error


@contextlib.contextmanager
def _folder_of(prefix: str) -> Iterator[None]:
    """Makes the folder of a checkpoint; takes it away again after a failure."""
    missing, folder = [], os.path.dirname(prefix)
    while folder and not tf.io.gfile.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    try:
        if missing:
            tf.io.gfile.makedirs(missing[0])
        yield
    except BaseException:
        for made in missing:
            if tf.io.gfile.exists(made) and not tf.io.gfile.listdir(made):
                tf.io.gfile.rmtree(made)
        raise


@contextlib.contextmanager
def _workshop(prefix: str) -> Iterator[str]:
    """A folder beside the checkpoint, so that renaming its files does not copy them."""
    path = f"{prefix}.tmp-{os.getpid()}"
    tf.io.gfile.makedirs(path)
    try:
        for name in ("new", "old"):
            tf.io.gfile.makedirs(os.path.join(path, name))
        yield path
    finally:
        tf.io.gfile.rmtree(path)


def _write_shards(workshop: str, tensors: Iterable[Tensor]) -> Iterator[str]:
    """Writes the variables, as many at a time as memory should hold; yields path prefixes."""
    batch: list[Tensor] = []
    size_bytes = number = 0
    for tensor in tensors:
        batch.append(tensor)
        size_bytes += tensor[2].nbytes
        if size_bytes >= _SHARD_BYTES:
            yield _save(os.path.join(workshop, f"part-{number}"), batch)
            batch, size_bytes, number = [], 0, number + 1
    if batch:
        yield _save(os.path.join(workshop, f"part-{number}"), batch)


def _save(prefix: str, tensors: Sequence[Tensor]) -> str:
    with tf.Graph().as_default(), _session() as session:
        fed = {tf.placeholder(dtype, value.shape): value for _, dtype, value in tensors}
        save = tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=[name for name, _, _ in tensors],
            shape_and_slices=[""] * len(tensors),
            tensors=list(fed),
        )
        session.run(save, fed)
    return prefix


def _merge(shards: Sequence[str], prefix: str) -> None:
    with tf.Graph().as_default(), _session() as session:
        session.run(
            tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=list(shards), destination_prefix=prefix, delete_old_dirs=False
            )
        )


def _session() -> Any:
    return tf.Session(config=tf.ConfigProto(device_count={"GPU": 0}))


def _put_in_place(new: str, prefix: str, old_folder: str) -> None:
    """Renames the files; the index goes first and comes last: without it there is no checkpoint."""
    folder = os.path.dirname(prefix)
    moves = [(file, _moved(file, old_folder)) for file in reversed(files_of(prefix))]
    moves += [(file, _moved(file, folder)) for file in files_of(new)]
    others = [
        path for path in known_checkpoints(folder) if exists(path) and not same_path(path, prefix)
    ]
    done: list[tuple[str, str]] = []
    try:
        for source, target in moves:
            tf.io.gfile.rename(source, target)
            done.append((source, target))
        _name_as_newest(folder, [*others, prefix])
    except BaseException:
        for source, target in reversed(done):
            tf.io.gfile.rename(target, source)
        raise


def _name_as_newest(folder: str, paths: Sequence[str]) -> None:
    """Writes the folder's `checkpoint` file with relative paths, so that the folder may move.

    TensorFlow makes paths relative to a folder whose own path is relative, and
    leaves them as they are otherwise.
    """
    if os.path.isabs(folder):
        paths = [os.path.relpath(path, folder) for path in paths]
    tf.train.update_checkpoint_state(folder, paths[-1], all_model_checkpoint_paths=list(paths))


def same_path(path: str, other: str) -> bool:
    """Whether two path prefixes are one."""
    return os.path.normpath(path) == os.path.normpath(other)


def _moved(file: str, folder: str) -> str:
    return os.path.join(folder, os.path.basename(file))
