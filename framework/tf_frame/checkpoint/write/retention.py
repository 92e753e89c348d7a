"""Which checkpoints of a folder are kept, and which deleted when a new one is there."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import checkpoint_state, known_checkpoints
from tf_frame.checkpoint.find.path import exists
from tf_frame.checkpoint.write.saving import remove_checkpoint
from tf_frame.checkpoint.write.writing import same_path

_LOG = logging.getLogger("tf_frame")
_HOUR_SECS = 3600.0


class KeptCheckpoints:
    """The checkpoints of a folder, by the rules of `tf.compat.v1.train.Saver`.

    What earlier runs saved counts: times are in the `checkpoint` file where
    `keep_every_n_hours` is given.

    Args:
      folder: the folder.
      max_to_keep: the newest that are kept; None or 0 deletes none, and then the
        `checkpoint` file lists the newest only.
      keep_every_n_hours: of those that are to be deleted, one is kept for every
        so many hours of training; it is no longer listed then. None keeps none.
      now: the time in seconds since 1970.
    """

    def __init__(
        self,
        folder: str,
        *,
        max_to_keep: int | None = 5,
        keep_every_n_hours: float | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._max_to_keep = max_to_keep
        self._interval_secs = keep_every_n_hours * _HOUR_SECS if keep_every_n_hours else None
        self._now = now
        self._kept: list[tuple[str, float]] = []
        self._next_secs = 0.0

    def recover(self) -> None:
        """Takes up what earlier runs left; to be called before the first `add`."""
        state = checkpoint_state(self._folder)
        times = dict(zip(known_checkpoints(self._folder), _times(state), strict=False))
        self._kept = [
            (path, times.get(path) or _written_at_secs(path))
            for path in known_checkpoints(self._folder)
            if exists(path)
        ]
        if self._interval_secs:
            start = state.last_preserved_timestamp if state else 0.0
            self._next_secs = (start or self._now()) + self._interval_secs

    def paths(self) -> Sequence[str]:
        """Path prefixes of those that are listed, oldest first."""
        return [path for path, _ in self._kept]

    def add(self, prefix: str) -> None:
        """Lists a checkpoint as the newest, then deletes those that are too old.

        Raises:
          tf.errors.OpError: the list could not be written; nothing was deleted.
        """
        kept = [(path, secs) for path, secs in self._kept if not same_path(path, prefix)]
        kept.append((prefix, self._now()))
        surplus = len(kept) - (self._max_to_keep or 1)
        outdated, kept = kept[: max(surplus, 0)], kept[max(surplus, 0) :]
        deleted = [path for path, secs in outdated if not self._preserve(secs)]
        self._write_list(kept)
        self._kept = kept
        if self._max_to_keep:
            for path in deleted:
                _delete(path)

    def _preserve(self, written_at_secs: float) -> bool:
        """Whether one that is too old stays, as the one of its hours."""
        if not self._interval_secs or written_at_secs <= self._next_secs:
            return False
        # After a pause between two runs it would go on for as many as the pause has hours.
        self._next_secs = max(self._next_secs + self._interval_secs, written_at_secs)
        return True

    def _write_list(self, kept: Sequence[tuple[str, float]]) -> None:
        times: dict[str, Any] = {}
        if self._interval_secs:
            times["all_model_checkpoint_timestamps"] = [secs for _, secs in kept]
            times["last_preserved_timestamp"] = self._next_secs - self._interval_secs
        write_list(self._folder, [path for path, _ in kept], **times)


def write_list(folder: str, paths: Sequence[str], **times: Any) -> None:
    """Writes the `checkpoint` file of a folder with relative paths, so that the folder may move.

    Args:
      folder: the folder.
      paths: path prefixes in it, oldest first; at least one.
      **times: as for `tf.compat.v1.train.update_checkpoint_state`.
    """
    if os.path.isabs(folder):  # Else TensorFlow makes them relative to the folder.
        paths = [os.path.relpath(path, folder) for path in paths]
    tf.train.update_checkpoint_state(
        folder, paths[-1], all_model_checkpoint_paths=list(paths), **times
    )


def _times(state: Any) -> Sequence[float]:
    """Times that the list holds, one a checkpoint, or none."""
    if state is None or not state.all_model_checkpoint_timestamps:
        return []
    return list(state.all_model_checkpoint_timestamps)


def _written_at_secs(path: str) -> float:
    file = path + ".index" if tf.io.gfile.exists(path + ".index") else path
    return float(tf.io.gfile.stat(file).mtime_nsec / 1e9)


def _delete(path: str) -> None:
    try:
        remove_checkpoint(path)
    except tf.errors.OpError as error:
        _LOG.warning("the old checkpoint %s could not be deleted: %s", path, error)
