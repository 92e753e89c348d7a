"""Writes checkpoints to a folder atomically, lists them, and deletes old ones.

No run ever resumes from half a checkpoint. The files are staged in a folder `.saving` and
checked, then renamed one by one (the index last), then listed in the `checkpoint` file. If a
process is killed before the end, the next run finds the folder `.saving` and removes these files.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import staging_folder, write_file
from tf_frame.checkpoint.find.newest import checkpoint_state, listed_checkpoints
from tf_frame.checkpoint.find.path import checkpoint_exists, checkpoint_files, same_path
from tf_frame.checkpoint.names import INDEX, LIST_FILE, SLOT_OF_PART, STAGING, step_in_path
from tf_frame.file_system import is_remote

_LOG = logging.getLogger("tf_frame")
_HOUR_SECS = 3600.0


def atomic_checkpoint(
    prefix: str, write: Callable[[str], None], *, publish: Callable[[], None]
) -> None:
    """Writes a checkpoint into its folder; after an error the folder is as it was before.

    Args:
      prefix: path prefix of the checkpoint; replaces a checkpoint of the same name.
      write: writes the checkpoint to a path prefix.
      publish: lists the checkpoint; called when its files are in place.

    Raises:
      tf.errors.OpError, OSError, ValueError: the checkpoint could not be written.
    """
    folder, name = os.path.split(prefix)
    with staging_folder(prefix + STAGING) as staging:
        new, old = os.path.join(staging, name), os.path.join(staging, "old")
        write(new)
        _check_size(new)
        tf.io.gfile.makedirs(old)
        # A checkpoint exists as long as its index: it is removed first and written last.
        moves = [(file, old) for file in reversed(checkpoint_files(prefix))]
        moves += [(file, folder) for file in checkpoint_files(new)]
        with _moved(moves):
            publish()


@contextlib.contextmanager
def _moved(moves: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Moves files into folders, in order; moves all back after an error, in the block as well."""
    done: list[tuple[str, str]] = []
    try:
        for file, folder in moves:
            target = os.path.join(folder, os.path.basename(file))
            tf.io.gfile.rename(file, target)
            done.append((file, target))
        yield
    except BaseException:  # Ctrl-C, too; raised again.
        for file, target in reversed(done):
            tf.io.gfile.rename(target, file)
        raise


def _check_size(prefix: str) -> None:
    """Checks that the index can be read, and that the data files hold as many bytes as it lists.

    Raises:
      tf.errors.OpError: the checkpoint is damaged.
    """
    reader = tf.train.NewCheckpointReader(prefix)
    types = reader.get_variable_to_dtype_map()
    needed_bytes = sum(
        types[name].size * int(np.prod(shape, dtype=np.int64))
        for name, shape in reader.get_variable_to_shape_map().items()
        if types[name] != tf.string and not SLOT_OF_PART.search(name)
    )
    data = [file for file in checkpoint_files(prefix) if not file.endswith(INDEX)]
    size_bytes = sum(tf.io.gfile.stat(file).length for file in data)
    if size_bytes < needed_bytes:
        message = f"{size_bytes} of at least {needed_bytes} bytes were written to {prefix}"
        raise tf.errors.DataLossError(None, None, message)


def write_list(folder: str, paths: Sequence[str], **times: Any) -> None:
    """Writes the `checkpoint` file of a folder, with relative paths: the folder may be moved.

    Args:
      paths: path prefixes in the folder, oldest first; at least one.
      **times: as for `tf.compat.v1.train.generate_checkpoint_state_proto`.
    """
    if os.path.isabs(folder):  # TensorFlow makes paths relative only in a relative folder.
        paths = [os.path.relpath(path, folder) for path in paths]
    state = tf.train.generate_checkpoint_state_proto(
        folder, paths[-1], all_model_checkpoint_paths=list(paths), **times
    )
    write_file(os.path.join(folder, LIST_FILE), str(state))


def remove_leftovers(folder: str, listed: Iterable[str] | None = None) -> None:
    """Removes the files of interrupted saves.

    Must not be called while a save is running.

    Args:
      listed: names of complete checkpoints; default: the names in its `checkpoint` file.
    """
    if not tf.io.gfile.isdir(folder):
        return
    if listed is None:
        listed = [os.path.basename(path) for path in listed_checkpoints(folder)]
    for entry in tf.io.gfile.listdir(folder):
        entry = entry.rstrip("/")  # Some file systems add a slash.
        name = entry.removesuffix(STAGING)
        # A checkpoint without a step in its name may be in work in another process.
        if name == entry or step_in_path(name) is None:
            continue
        if name not in listed:
            remove_checkpoint(os.path.join(folder, name))
        tf.io.gfile.rmtree(os.path.join(folder, entry))


def remove_checkpoint(prefix: str) -> None:
    """Removes the files of a checkpoint, the index first: without it there is no checkpoint."""
    for file in sorted(checkpoint_files(prefix), key=lambda file: not file.endswith(INDEX)):
        tf.io.gfile.remove(file)


class KeptCheckpoints:
    """The checkpoints that a folder keeps, by the rules of `tf.compat.v1.train.Saver`.

    Checkpoints of earlier runs count, but none of another folder, which the list of a copied folder
    may name. With `keep_every_n_hours` the `checkpoint` file holds the
    times of the checkpoints.

    Args:
      max_to_keep: number of newest checkpoints that are kept. None or 0 deletes none, and
        the `checkpoint` file lists only the newest.
      keep_every_n_hours: keeps one older checkpoint for each period of so many hours, without
        listing it. None keeps no older checkpoint.
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
        paths = listed_checkpoints(self._folder)
        written_at = state.all_model_checkpoint_timestamps if state else ()  # May be empty.
        times = dict(zip(paths, written_at, strict=False))
        self._kept = [
            (path, times.get(path) or _written_at_secs(path))
            for path in paths
            if checkpoint_exists(path) and _is_in(self._folder, path)
        ]
        if self._interval_secs:
            start = state.last_preserved_timestamp if state else 0.0
            self._next_secs = (start or time.time()) + self._interval_secs

    def paths(self) -> Sequence[str]:
        """Returns path prefixes of the listed checkpoints, oldest first."""
        return [path for path, _ in self._kept]

    def add(self, prefix: str) -> None:
        """Lists a checkpoint as the newest, then deletes checkpoints that are too old.

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
        """Removes a checkpoint and its entry in the list; removes an empty list, too."""
        kept = [(path, secs) for path, secs in self._kept if not same_path(path, prefix)]
        if kept:
            self._list(kept)
        elif len(kept) < len(self._kept):
            tf.io.gfile.remove(os.path.join(self._folder, LIST_FILE))
        self._kept = kept
        _delete(prefix)

    def _preserve(self, written_at_secs: float) -> bool:
        """Returns whether `keep_every_n_hours` keeps an old checkpoint."""
        if not self._interval_secs or written_at_secs <= self._next_secs:
            return False
        # Without the maximum, each hour of a pause between two runs would keep one checkpoint.
        self._next_secs = max(self._next_secs + self._interval_secs, written_at_secs)
        return True

    def _list(self, kept: Sequence[tuple[str, float]]) -> None:
        times: dict[str, Any] = {}
        if self._interval_secs:
            times["all_model_checkpoint_timestamps"] = [secs for _, secs in kept]
            times["last_preserved_timestamp"] = self._next_secs - self._interval_secs
        write_list(self._folder, [path for path, _ in kept], **times)


def _is_in(folder: str, path: str) -> bool:
    real = os.path.normpath if is_remote(folder) else os.path.realpath
    return real(os.path.dirname(path)) == real(folder)


def _written_at_secs(path: str) -> float:
    file = path + INDEX if tf.io.gfile.exists(path + INDEX) else path
    return float(tf.io.gfile.stat(file).mtime_nsec / 1e9)


def _delete(path: str) -> None:
    try:
        remove_checkpoint(path)
    except tf.errors.OpError as error:
        _LOG.warning("the old checkpoint %s could not be deleted: %s", path, error)
