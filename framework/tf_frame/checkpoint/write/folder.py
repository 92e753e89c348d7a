"""Writes checkpoints to a folder atomically, lists them, and deletes old ones.

No run ever resumes from half a checkpoint: it is staged in `model.ckpt-<step>.saving/`, checked,
renamed file by file, the index last, and listed in the folder's `checkpoint` file. A process that
is killed at any point leaves the folder `.saving`, by which the next run knows what to remove.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import staging_folder, write_file
from tf_frame.checkpoint.find.newest import checkpoint_state, known_checkpoints
from tf_frame.checkpoint.find.path import exists, files_of, same_path

_LOG = logging.getLogger("tf_frame")
_HOUR_SECS = 3600.0
_STAGING = ".saving"
_STAGING_OF_A_STEP = re.compile(r"(.+-\d+)\.saving")


def atomic_checkpoint(
    prefix: str, write: Callable[[str], None], *, publish: Callable[[], None]
) -> None:
    """Writes a checkpoint into its folder; after an error the folder is as it was before.

    Args:
      prefix: path prefix of the checkpoint; replaces one of the same name.
      write: writes the checkpoint to the path prefix that it is given.
      publish: lists the checkpoint; called when its files are in place.

    Raises:
      tf.errors.OpError, OSError, ValueError: the checkpoint could not be written.
    """
    folder, name = os.path.split(prefix)
    with staging_folder(prefix + _STAGING) as staging:
        new, old = os.path.join(staging, name), os.path.join(staging, "old")
        write(new)
        _check_size(new)
        tf.io.gfile.makedirs(old)
        # The index goes first and comes last: without it there is no checkpoint.
        moves = [(file, old) for file in reversed(files_of(prefix))]
        moves += [(file, folder) for file in files_of(new)]
        with _moved(moves):
            publish()


@contextlib.contextmanager
def _moved(moves: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Moves files into folders, in order; an error, in the block as well, moves all back."""
    done: list[tuple[str, str]] = []
    try:
        for file, folder in moves:
            target = os.path.join(folder, os.path.basename(file))
            tf.io.gfile.rename(file, target)
            done.append((file, target))
        yield
    except BaseException:
        for file, target in reversed(done):
            tf.io.gfile.rename(target, file)
        raise


def _check_size(prefix: str) -> None:
    """Checks that the index can be read and the data files are as long as it says.

    Raises:
      tf.errors.OpError: they are not.
    """
    reader = tf.train.NewCheckpointReader(prefix)
    types = reader.get_variable_to_dtype_map()
    needed_bytes = sum(
        types[name].size * int(np.prod(shape, dtype=np.int64))
        for name, shape in reader.get_variable_to_shape_map().items()
        if types[name] != tf.string
    )
    data = [file for file in files_of(prefix) if not file.endswith(".index")]
    size_bytes = sum(tf.io.gfile.stat(file).length for file in data)
    if size_bytes < needed_bytes:
        message = f"{size_bytes} of at least {needed_bytes} bytes were written to {prefix}"
        raise tf.errors.DataLossError(None, None, message)


def write_list(folder: str, paths: Sequence[str], **times: Any) -> None:
    """Writes the `checkpoint` file of a folder, with relative paths, so that the folder may move.

    Args:
      folder: the folder.
      paths: path prefixes in the folder, oldest first; at least one.
      **times: as for `tf.compat.v1.train.generate_checkpoint_state_proto`.
    """
    if os.path.isabs(folder):  # TensorFlow makes paths relative only in a relative folder.
        paths = [os.path.relpath(path, folder) for path in paths]
    state = tf.train.generate_checkpoint_state_proto(
        folder, paths[-1], all_model_checkpoint_paths=list(paths), **times
    )
    write_file(os.path.join(folder, "checkpoint"), str(state))


def remove_leftovers(folder: str, listed: Iterable[str] | None = None) -> None:
    """Removes what saves that were killed left behind.

    Must not be called while a save is running.

    Args:
      folder: the folder.
      listed: names of complete checkpoints; default: those in its `checkpoint` file.
    """
    if not tf.io.gfile.isdir(folder):
        return
    if listed is None:
        listed = [os.path.basename(path) for path in known_checkpoints(folder)]
    for entry in tf.io.gfile.listdir(folder):
        found = _STAGING_OF_A_STEP.fullmatch(entry.rstrip("/"))  # Some file systems add a slash.
        if not found:
            continue
        if found[1] not in listed:
            remove_checkpoint(os.path.join(folder, found[1]))
        tf.io.gfile.rmtree(os.path.join(folder, found[0]))


def remove_checkpoint(prefix: str) -> None:
    """Removes the files of a checkpoint, the index first: without it there is no checkpoint."""
    for file in sorted(files_of(prefix), key=lambda file: not file.endswith(".index")):
        tf.io.gfile.remove(file)


class KeptCheckpoints:
    """The checkpoints that a folder keeps, by the rules of `tf.compat.v1.train.Saver`.

    Checkpoints of earlier runs count; with `keep_every_n_hours` their times are in the
    `checkpoint` file.

    Args:
      folder: the folder.
      max_to_keep: number of newest checkpoints that are kept; None or 0 deletes none, and
        then the `checkpoint` file lists only the newest.
      keep_every_n_hours: keeps one of the checkpoints that are too old for every so many
        hours of training, without listing it. None keeps none of them.
    """

    def __init__(
        self, folder: str, *, max_to_keep: int | None = 5, keep_every_n_hours: float | None = None
    ) -> None:
        self._folder = folder
        self._max_to_keep = max_to_keep
        self._interval_secs = keep_every_n_hours * _HOUR_SECS if keep_every_n_hours else None
        self._kept: list[tuple[str, float]] = []
        self._next_secs = 0.0

    def recover(self) -> None:
        """Reads the list of earlier runs; to be called before the first `add`."""
        state = checkpoint_state(self._folder)
        known = known_checkpoints(self._folder)
        written_at = state.all_model_checkpoint_timestamps if state else ()  # May be empty.
        times = dict(zip(known, written_at, strict=False))
        self._kept = [
            (path, times.get(path) or _written_at_secs(path)) for path in known if exists(path)
        ]
        if self._interval_secs:
            start = state.last_preserved_timestamp if state else 0.0
            self._next_secs = (start or time.time()) + self._interval_secs

    def paths(self) -> Sequence[str]:
        """Path prefixes of the checkpoints that are listed, oldest first."""
        return [path for path, _ in self._kept]

    def add(self, prefix: str) -> None:
        """Lists a checkpoint as the newest, then deletes the ones that are too old.

        Raises:
          tf.errors.OpError: the list could not be written; nothing was deleted.
        """
        kept = [(path, secs) for path, secs in self._kept if not same_path(path, prefix)]
        kept.append((prefix, time.time()))
        surplus = len(kept) - (self._max_to_keep or 1)
        outdated, kept = kept[: max(surplus, 0)], kept[max(surplus, 0) :]
        deleted = [path for path, secs in outdated if not self._preserve(secs)]
        self._list(kept)
        self._kept = kept
        if self._max_to_keep:
            for path in deleted:
                _delete(path)

    def discard(self, prefix: str) -> None:
        """Removes a checkpoint, and its entry in the list; the last one takes the list along."""
        kept = [(path, secs) for path, secs in self._kept if not same_path(path, prefix)]
        if kept:
            self._list(kept)
        elif len(kept) < len(self._kept):
            tf.io.gfile.remove(os.path.join(self._folder, "checkpoint"))
        self._kept = kept
        _delete(prefix)

    def _preserve(self, written_at_secs: float) -> bool:
        """Returns whether an old checkpoint stays, as `keep_checkpoint_every_n_hours` asks."""
        if not self._interval_secs or written_at_secs <= self._next_secs:
            return False
        # Else each hour of a pause between two runs would keep one more checkpoint.
        self._next_secs = max(self._next_secs + self._interval_secs, written_at_secs)
        return True

    def _list(self, kept: Sequence[tuple[str, float]]) -> None:
        times: dict[str, Any] = {}
        if self._interval_secs:
            times["all_model_checkpoint_timestamps"] = [secs for _, secs in kept]
            times["last_preserved_timestamp"] = self._next_secs - self._interval_secs
        write_list(self._folder, [path for path, _ in kept], **times)


def _written_at_secs(path: str) -> float:
    file = path + ".index" if tf.io.gfile.exists(path + ".index") else path
    return float(tf.io.gfile.stat(file).mtime_nsec / 1e9)


def _delete(path: str) -> None:
    try:
        remove_checkpoint(path)
    except tf.errors.OpError as error:
        _LOG.warning("the old checkpoint %s could not be deleted: %s", path, error)
