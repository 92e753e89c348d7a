"""Copies of the best checkpoints by a metric of evaluation, beside the newest ones.

    best = BestCheckpoints(model_dir, metric="miou", keep=3, higher_is_better=True)
    best.offer("runs/first/model.ckpt-120", {"miou": 0.41, "loss": 1.3})

The copies are in `MODEL_DIR/best/`, where `best.json` holds their scores:

    {"metric": "miou", "higher_is_better": true, "checkpoints": [{"step": 120, "value": 0.41}]}
"""

from __future__ import annotations

import dataclasses
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
from tf_frame.checkpoint.write.staging import (
    atomic_checkpoint,
    remove_checkpoint,
    remove_leftovers,
    write_list,
)
from tf_frame.config.values import not_a_choice
from tf_frame.errors import CheckpointError, ConfigError, translated_write_errors

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Scored:
    """The score of a checkpoint.

    Attributes:
      step: global step of the checkpoint.
      value: value of the metric.
    """

    step: int
    value: float


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
        listed = [os.path.basename(self.path(scored.step)) for scored in self._scored]
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
        new = Scored(step_of(checkpoint_path), value)
        # After a return to an older checkpoint a step comes again, and replaces itself.
        others = [scored for scored in self._scored if scored.step != new.step]
        kept = sorted([*others, new], key=self._rank)[: self._keep]  # Equal ones stay in order.
        if new not in kept and len(others) == len(self._scored):
            return False
        with translated_write_errors(
            f"{checkpoint_path} could not be copied to {self.folder}",
            "free space there and check that it can be written",
            error_class=CheckpointError,
        ):
            self._take(checkpoint_path if new in kept else None, new.step, kept)
        return new in kept

    def _rank(self, scored: Scored) -> float:
        return -scored.value if self._higher else scored.value

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
        kept_steps = {scored.step for scored in kept}
        dropped = [scored.step for scored in self._scored if scored.step not in kept_steps]
        self._scored = kept
        for other in dropped:
            remove_checkpoint(self.path(other))

    def _write(self, kept: Sequence[Scored]) -> None:
        """Writes `best.json`, and the `checkpoint` file with the best as the newest."""
        content: dict[str, Any] = {
            "metric": self._metric,
            "higher_is_better": self._higher,
            "checkpoints": [dataclasses.asdict(scored) for scored in kept],
        }
        with atomic_output(self._index) as temporary:
            with tf.io.gfile.GFile(temporary, "w") as file:
                file.write(json.dumps(content, indent=2) + "\n")
            write_list(self.folder, [self.path(scored.step) for scored in reversed(kept)])

    def _read(self) -> list[Scored]:
        if not tf.io.gfile.exists(self._index):
            return []
        try:
            with tf.io.gfile.GFile(self._index) as file:
                content = json.loads(file.read())
            found = [Scored(int(c["step"]), float(c["value"])) for c in content["checkpoints"]]
            order = (content["metric"], content["higher_is_better"])
        except (ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s cannot be read, so it is ignored: %s", self._index, error)
            return []
        if order != (self._metric, self._higher):
            raise ConfigError(
                f"{self.folder} holds the best by {_order(*order)}, and this run compares "
                f"{_order(self._metric, self._higher)}; move that folder away"
            )
        return [scored for scored in found if exists(self.path(scored.step))]


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
