"""Writes the checkpoint of a step: whole, or nothing of it.

A save writes into `model.ckpt-<step>.saving/`, looks whether all is there, renames
the files, the index last, and has the checkpoint listed. Killed at any point, it
leaves the folder `.saving`, by which the next run knows what to remove.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.listing import files_of
from tf_frame.checkpoint.find.newest import known_checkpoints
from tf_frame.checkpoint.write.snapshot import Shard

_WORKSHOP = ".saving"
_WORKSHOP_OF_A_STEP = re.compile(r"(.+-\d+)\.saving")


def write_whole(prefix: str, write: Callable[[str], None], *, count: Callable[[], None]) -> None:
    """Writes a checkpoint into its folder; a failure leaves nothing of it.

    Args:
      prefix: its path prefix; what is there under this name is replaced.
      write: writes it to the path prefix that it is given.
      count: has it listed; called when it is in place.

    Raises:
      tf.errors.OpError, OSError, ValueError: it could not be written.
    """
    workshop = prefix + _WORKSHOP
    new = os.path.join(workshop, os.path.basename(prefix))
    try:
        if tf.io.gfile.exists(workshop):
            tf.io.gfile.rmtree(workshop)
        tf.io.gfile.makedirs(workshop)
        write(new)
        _check_size(new)
        _put_in_place(new, prefix, count)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):  # The failure of the save is to be reported.
            tf.io.gfile.rmtree(workshop)
        raise
    tf.io.gfile.rmtree(workshop)


def _put_in_place(new: str, prefix: str, count: Callable[[], None]) -> None:
    folder = os.path.dirname(prefix)
    try:
        remove_checkpoint(prefix)
        for file in files_of(new):  # Data, then the index: only that makes it a checkpoint.
            tf.io.gfile.rename(file, os.path.join(folder, os.path.basename(file)))
        count()
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            remove_checkpoint(prefix)
        for unfinished in tf.io.gfile.glob(os.path.join(folder, "checkpoint.tmp*")):
            with contextlib.suppress(tf.errors.OpError):
                tf.io.gfile.remove(unfinished)  # The list is written under such a name first.
        raise


def remove_leftovers(folder: str, listed: Iterable[str] | None = None) -> None:
    """Removes what saves that were killed left behind.

    Must not be called while a save is under way.

    Args:
      folder: the folder.
      listed: names of the checkpoints that count; default: those of its `checkpoint` file.
    """
    if not tf.io.gfile.isdir(folder):
        return
    if listed is None:
        listed = [os.path.basename(path) for path in known_checkpoints(folder)]
    for entry in tf.io.gfile.listdir(folder):
        found = _WORKSHOP_OF_A_STEP.fullmatch(entry.rstrip("/"))  # Some file systems mark folders.
        if not found:
            continue
        if found[1] not in listed:
            remove_checkpoint(os.path.join(folder, found[1]))
        tf.io.gfile.rmtree(os.path.join(folder, found[0]))


def remove_checkpoint(prefix: str) -> None:
    """Removes the files of a checkpoint, the index first: without it there is none."""
    for file in sorted(files_of(prefix), key=lambda file: not file.endswith(".index")):
        tf.io.gfile.remove(file)


def _check_size(prefix: str) -> None:
    """Looks whether the index can be read and the data files are as long as it says.

    Raises:
      tf.errors.OpError: not so.
    """
    reader = tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    needed_bytes = sum(
        types[name].size * int(np.prod(shape, dtype=np.int64))
        for name, shape in shapes.items()
        if types[name] != tf.string
    )
    data = [file for file in files_of(prefix) if not file.endswith(".index")]
    size_bytes = sum(tf.io.gfile.stat(file).length for file in data)
    if size_bytes < needed_bytes:
        message = f"{size_bytes} of at least {needed_bytes} bytes were written to {prefix}"
        raise tf.errors.DataLossError(None, None, message)


class GraphWriter:
    """Writes the variables from within the training graph, each shard by its device.

    Args:
      shards: what to write.
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        with tf.name_scope("save_checkpoint"), tf.device(None):
            self._prefix = tf.placeholder(tf.string, [], name="prefix")
            if len(shards) == 1:
                self._write = _save(shards[0], self._prefix, shards[0].tensors)
            else:
                self._write = self._merged(shards)

    def write(self, session: Any, prefix: str) -> None:
        """Writes a checkpoint to a path prefix, by the training session."""
        session.run(self._write, {self._prefix: prefix})

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
    """Writes arrays, by a small graph and session of its own; for another thread.

    Args:
      shard: names, slices and types.
    """

    def __init__(self, shard: Shard) -> None:
        with tf.Graph().as_default() as graph:
            self._prefix = tf.placeholder(tf.string, [])
            self._tensors = [tf.placeholder(tensor.dtype.base_dtype) for tensor in shard.tensors]
            # The shard's device is one of the training session.
            self._write = _save(dataclasses.replace(shard, device=""), self._prefix, self._tensors)
        self._session = tf.Session(graph=graph, config=tf.ConfigProto(device_count={"GPU": 0}))

    def write(self, values: Sequence[np.ndarray], prefix: str) -> None:
        """Writes a checkpoint to a path prefix.

        Args:
          values: an array for each tensor of the shard.
          prefix: where to.
        """
        fed = dict(zip(self._tensors, values, strict=True))
        self._session.run(self._write, {self._prefix: prefix, **fed})


def _save(shard: Shard, prefix: Any, tensors: Sequence[Any]) -> Any:
    with tf.device(shard.device):
        return tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=list(shard.names),
            shape_and_slices=list(shard.slices),
            tensors=list(tensors),
        )


class Background:
    """Work in a thread of its own, which the interpreter waits for before it ends.

    Args:
      work: what to do.

    Attributes:
      error: what it raised, if it did.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, name="checkpoint")
        self._thread.start()

    def done(self) -> bool:
        """Whether it has ended."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Waits until it has ended; does not raise its error."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # To be raised in the thread that waits.
            self.error = error
