"""Keeps copies of the checkpoints with the best evaluation metric (`--keep_best`).

The best one may be old, and `--max_to_keep` deletes old checkpoints, but not these copies.

    best = BestCheckpoints(model_dir, metric="miou", keep=3, higher_is_better=True)
    best.offer("runs/first/model.ckpt-120", {"miou": 0.41, "loss": 1.3})

The copies are in `MODEL_DIR/best/`, where `best.json` holds their scores:

    {"metric": "miou", "higher_is_better": true, "checkpoints": [{"step": 120, "value": 0.41}]}
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import atomic_output
from tf_frame.checkpoint.find.newest import step_of
from tf_frame.checkpoint.find.path import exists, files_of
from tf_frame.checkpoint.write.folder import (
    atomic_checkpoint,
    remove_checkpoint,
    remove_leftovers,
    write_list,
)
from tf_frame.config.values import not_a_choice
from tf_frame.errors import CheckpointError, ConfigError, translated_write_errors

_LOG = logging.getLogger("tf_frame")

# Global step of a checkpoint, and the value of the metric.
Scored = tuple[int, float]


class BestCheckpoints:
    """The best checkpoints of a run, and of earlier runs in the same folder.

    Args:
      model_dir: the folder of the run; the copies are in `best/` below it.
      metric: the metric of an evaluation that decides.
      keep: number of checkpoints that are kept.
      higher_is_better: false: a lower value is better.

    Raises:
      ConfigError: earlier runs kept the best by another metric.
      ValueError: `keep` is not positive.
    """

    def __init__(
        self, model_dir: str, *, metric: str, keep: int = 1, higher_is_better: bool
    ) -> None:
        if keep <= 0:
            raise ValueError(f"keep is {keep}; it must be positive")
        self.folder = os.path.join(model_dir, "best")
        self._metric = metric
        self._keep = keep
        self._higher = higher_is_better
        self._index = os.path.join(self.folder, "best.json")
        self._scored = self._read()
        listed = [os.path.basename(self.path(step)) for step, _ in self._scored]
        remove_leftovers(self.folder, listed)

    def scored(self) -> Sequence[Scored]:
        """The checkpoints that are kept, the best first."""
        return list(self._scored)

    def path(self, step: int) -> str:
        """The path prefix of the copy of a step."""
        return os.path.join(self.folder, f"model.ckpt-{step}")

    def offer(self, checkpoint_path: str, metrics: Mapping[str, float]) -> bool:
        """Copies a checkpoint if it is one of the best; of equal ones the older one stays.

        Args:
          checkpoint_path: path prefix of the checkpoint, which must be complete.
          metrics: result of its evaluation, by name. NaN and infinity are never best.

        Returns:
          Whether the checkpoint is kept.

        Raises:
          ConfigError: the metric is not in the result.
          CheckpointError: the checkpoint could not be copied; the others are still there.
        """
        if self._metric not in metrics:
            raise ConfigError(f"--best_metric {not_a_choice(self._metric, sorted(metrics))}")
        value = float(metrics[self._metric])
        if not math.isfinite(value):
            return False
        new = (step_of(checkpoint_path), value)
        # A run that resumed from an older checkpoint evaluates the same step again.
        others = [scored for scored in self._scored if scored[0] != new[0]]
        kept = sorted([*others, new], key=self._rank)[: self._keep]  # The sort is stable.
        if new not in kept and len(others) == len(self._scored):
            return False
        with translated_write_errors(
            f"{checkpoint_path} could not be copied to {self.folder}",
            "free space there and check that it can be written",
            error_class=CheckpointError,
        ):
            self._take(checkpoint_path if new in kept else None, new[0], kept)
        return new in kept

    def _rank(self, scored: Scored) -> float:
        return -scored[1] if self._higher else scored[1]

    def _take(self, source: str | None, step: int, kept: list[Scored]) -> None:
        """Lists what is kept, with a copy of `source` for a step, and removes the others."""
        tf.io.gfile.makedirs(self.folder)
        target = self.path(step)
        if source is None or _same(source, target):
            self._write(kept)
        else:
            atomic_checkpoint(
                target, lambda to: _copy(source, to), publish=lambda: self._write(kept)
            )
        dropped = {step for step, _ in self._scored} - {step for step, _ in kept}
        self._scored = kept
        for other in sorted(dropped):
            remove_checkpoint(self.path(other))

    def _write(self, kept: Sequence[Scored]) -> None:
        """Writes `best.json`, and the `checkpoint` file with the best as the newest."""
        content: dict[str, Any] = {
            "metric": self._metric,
            "higher_is_better": self._higher,
            "checkpoints": [{"step": step, "value": value} for step, value in kept],
        }
        with atomic_output(self._index) as temporary:
            with tf.io.gfile.GFile(temporary, "w") as file:
                file.write(json.dumps(content, indent=2) + "\n")
            write_list(self.folder, [self.path(step) for step, _ in reversed(kept)])

    def _read(self) -> list[Scored]:
        if not tf.io.gfile.exists(self._index):
            return []
        try:
            with tf.io.gfile.GFile(self._index) as file:
                content = json.loads(file.read())
            found = [(int(c["step"]), float(c["value"])) for c in content["checkpoints"]]
            order = (content["metric"], content["higher_is_better"])
        except (ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s cannot be read, so it is ignored: %s", self._index, error)
            return []
        if order != (self._metric, self._higher):
            raise ConfigError(
                f"{self.folder} holds the best by {_order(*order)}, and this run compares "
                f"{_order(self._metric, self._higher)}; move that folder away"
            )
        return [scored for scored in found if exists(self.path(scored[0]))]


def _order(metric: str, higher_is_better: bool) -> str:
    return f"the {'highest' if higher_is_better else 'lowest'} {metric}"


def _copy(source: str, target: str) -> None:
    for file in files_of(source):
        if not file.endswith(".meta"):
            tf.io.gfile.copy(file, target + file.removeprefix(source))


def _same(source: str, target: str) -> bool:
    """Returns whether two checkpoints are equal; their indexes have checksums of all tensors."""
    return exists(target) and _bytes(source + ".index") == _bytes(target + ".index")


def _bytes(path: str) -> bytes:
    with tf.io.gfile.GFile(path, "rb") as file:
        content: bytes = file.read()
    return content
