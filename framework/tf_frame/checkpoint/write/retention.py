"""Retention of checkpoints: the ones that stay in a folder when a new one is saved."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import checkpoint_state, known_checkpoints
from tf_frame.checkpoint.find.path import exists, same_path
from tf_frame.checkpoint.write.staging import remove_checkpoint, write_list

_LOG = logging.getLogger("tf_frame")
_HOUR_SECS = 3600.0


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
        written_at = state.all_model_checkpoint_timestamps if state else ()  # Or it is empty.
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
