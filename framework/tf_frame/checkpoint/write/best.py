"""Keeps copies of the checkpoints with the best evaluation metric (`--keep_best`).

`--max_to_keep` deletes old checkpoints, but not these copies.

    best = BestCheckpoints(model_dir, metric="miou", keep=3, higher_is_better=True)
    best.offer(newest_checkpoint(model_dir), {"miou": 0.41, "loss": 1.3})

The copies are in `MODEL_DIR/best/`. The file `best.json` there holds their scores:

    {"metric": "miou", "higher_is_better": true, "checkpoints": [{"step": 120, "value": 0.41}]}
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import atomic_output
from tf_frame.checkpoint.find.newest import read_step
from tf_frame.checkpoint.find.path import checkpoint_exists, checkpoint_files
from tf_frame.checkpoint.names import INDEX, META, checkpoint_name, checkpoint_path
from tf_frame.checkpoint.write.folder import (
    atomic_checkpoint,
    remove_checkpoint,
    remove_leftovers,
    write_list,
)
from tf_frame.config.values import not_a_choice
from tf_frame.errors import CheckpointError, ConfigError, translated_write_errors
from tf_frame.side_files import read_or_set_aside
from tf_frame.text import short

# Global step of a checkpoint, and the value of the metric.
Scored = tuple[int, float]


class BestCheckpoints:
    """The best checkpoints of a run, and of earlier runs in the same folder.

    Args:
      model_dir: the folder of the run; the copies are in `best/` below it.
      metric: name of the metric that is compared.
      keep: number of checkpoints that are kept.
      higher_is_better: whether a higher value is better.

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
        remove_leftovers(self.folder, [checkpoint_name(step) for step, _ in self._scored])

    def scored(self) -> Sequence[Scored]:
        """Returns the kept checkpoints, the best first."""
        return list(self._scored)

    def path(self, step: int) -> str:
        """Returns the path prefix of the copy of a step."""
        return checkpoint_path(self.folder, step)

    def offer(self, checkpoint: str, metrics: Mapping[str, float]) -> bool:
        """Copies a checkpoint if it is among the best; the older of two equal ones wins.

        Args:
          checkpoint: path prefix of the checkpoint, which must be complete.
          metrics: result of its evaluation, by name. NaN and infinity are never best.

        Returns:
          Whether the checkpoint is kept.

        Raises:
          ConfigError: the metric is not in the result.
          CheckpointError: the checkpoint could not be copied; the kept ones are unchanged.
        """
        if self._metric not in metrics:
            raise ConfigError(f"--best_metric {not_a_choice(self._metric, sorted(metrics))}")
        value = float(metrics[self._metric])
        if not math.isfinite(value):
            return False
        new = (read_step(checkpoint), value)
        # A run that resumed from an older checkpoint evaluates the same step again.
        other_steps = [scored for scored in self._scored if scored[0] != new[0]]
        kept = sorted([*other_steps, new], key=self._rank)[: self._keep]  # The sort is stable.
        if new not in kept and len(other_steps) == len(self._scored):
            return False
        with translated_write_errors(
            f"{checkpoint} could not be copied to {self.folder}",
            "free space there and check that it can be written",
            error_class=CheckpointError,
        ):
            self._update(checkpoint if new in kept else None, new[0], kept)
        return new in kept

    def _rank(self, scored: Scored) -> float:
        return -scored[1] if self._higher else scored[1]

    def _update(self, source: str | None, step: int, kept: list[Scored]) -> None:
        """Copies `source` as the checkpoint of `step`, lists `kept`, removes the dropped copies."""
        tf.io.gfile.makedirs(self.folder)
        target = self.path(step)
        if source is None or _equal(source, target):
            self._write(kept)
        else:
            atomic_checkpoint(
                target, lambda new: _copy(source, new), publish=lambda: self._write(kept)
            )
        dropped = {step for step, _ in self._scored} - {step for step, _ in kept}
        self._scored = kept
        for dropped_step in sorted(dropped):
            remove_checkpoint(self.path(dropped_step))

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
        listed = read_or_set_aside(self._index, _scored_and_order)
        if listed is None:
            return []
        scored, order = listed
        if order != (self._metric, self._higher):
            raise ConfigError(
                f"{short(self.folder)} holds the best by {_order(*order)}, and this run compares "
                f"{_order(self._metric, self._higher)}; move that folder away"
            )
        return [(step, value) for step, value in scored if checkpoint_exists(self.path(step))]


def _scored_and_order(content: Any) -> tuple[list[Scored], tuple[str, bool]]:
    scored = [(int(entry["step"]), float(entry["value"])) for entry in content["checkpoints"]]
    metric, higher_is_better = content["metric"], content["higher_is_better"]
    if not (isinstance(metric, str) and isinstance(higher_is_better, bool)):
        raise ValueError("the metric or its direction has another type")
    return scored, (metric, higher_is_better)


def _order(metric: str, higher_is_better: bool) -> str:
    return f"the {'highest' if higher_is_better else 'lowest'} {metric}"


def _copy(source: str, target: str) -> None:
    for file in checkpoint_files(source):
        if not file.endswith(META):
            tf.io.gfile.copy(file, target + file.removeprefix(source))


def _equal(source: str, target: str) -> bool:
    """Compares two checkpoints by their indexes, which have checksums of all tensors."""
    return checkpoint_exists(target) and _read(source + INDEX) == _read(target + INDEX)


def _read(path: str) -> bytes:
    with tf.io.gfile.GFile(path, "rb") as file:
        content: bytes = file.read()
    return content
