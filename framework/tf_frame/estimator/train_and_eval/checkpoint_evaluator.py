"""`CheckpointEvaluator`: evaluates and exports the newest checkpoint, in `train_and_evaluate`.

Statuses and warnings are taken from `_TrainingExecutor._Evaluator` of tensorflow_estimator,
training.py.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.estimator.train_and_eval.specs import EvalSpec
from tf_frame.side_files import read_or_set_aside
from tf_frame.text_file import parse_integer

_LOG = logging.getLogger("tf_frame")
_FINISHED, _UNFINISHED = "finished.json", "unfinished.json"
_SECS_BETWEEN_WARNINGS = 600

EVALUATED = "evaluated"
MISSING_CHECKPOINT = "missing checkpoint"
NO_NEW_CHECKPOINT = "no new checkpoint"


@dataclasses.dataclass(frozen=True)
class EvalResult:
    """Result of a search for a checkpoint to evaluate.

    Attributes:
      status: `EVALUATED`, `MISSING_CHECKPOINT` or `NO_NEW_CHECKPOINT`.
      metrics: result of `Estimator.evaluate`; None if nothing was evaluated.
      checkpoint_path: the evaluated checkpoint, or None.
    """

    status: str
    metrics: Mapping[str, Any] | None = None
    checkpoint_path: str | None = None

    @property
    def step(self) -> int:
        """Global step of the evaluated checkpoint; 0 if nothing was evaluated."""
        return int(self.metrics["global_step"]) if self.metrics else 0

    def reached(self, max_steps: int | None) -> bool:
        """Returns whether a checkpoint of the last step, or of a later one, was evaluated."""
        return bool(max_steps and self.metrics and self.step >= max_steps)


@dataclasses.dataclass
class CheckpointEvaluator:
    """Evaluates the newest checkpoint of an estimator, each checkpoint only once.

    Writes `finished.json` to the folder of the evaluation after the last step is evaluated and
    exported. The file `unfinished.json` names a step while it is evaluated and exported, so that
    a resumed training makes it up after a kill.

    Args:
      spec: the evaluation and the exporters.
      max_steps: global step at which training ends; None: it has no end.
      clock: returns seconds.

    Attributes:
      checkpoint: path of the checkpoint in the last evaluation, which may have failed.
    """

    estimator: Any
    spec: EvalSpec
    max_steps: int | None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._warned_at: float | None = None
        eval_dir = self.estimator.eval_dir(self.spec.name)
        self._finished_path = os.path.join(eval_dir, _FINISHED)
        self._unfinished_path = os.path.join(eval_dir, _UNFINISHED)
        self.checkpoint: str | None = None

    def evaluate_and_export(self) -> tuple[EvalResult, Sequence[Any]]:
        """Evaluates the newest checkpoint, unless it was evaluated before.

        Returns:
          The result, and the return values of the exporters.
        """
        newest = self.estimator.latest_checkpoint()
        if not newest:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
            )
            return EvalResult(MISSING_CHECKPOINT), []
        if newest == self.checkpoint:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as "
                "evaluation results are expected to be same for the same checkpoint."
            )
            return EvalResult(NO_NEW_CHECKPOINT), []
        self.checkpoint, self._warned_at = newest, None
        metrics = self.estimator.evaluate(
            input_fn=self.spec.input_fn,
            steps=self.spec.steps,
            name=self.spec.name,
            checkpoint_path=newest,
            hooks=self.spec.hooks,
        )
        result = EvalResult(EVALUATED, metrics, newest)
        exported = self._export(result)
        if result.reached(self.max_steps):
            _write_step(self._finished_path, result.step)
        if tf.io.gfile.exists(self._unfinished_path):
            tf.io.gfile.remove(self._unfinished_path)
        return result, exported

    def note_due(self, step: int) -> None:
        """Records that the checkpoint of a step is to be evaluated, before it is saved."""
        _write_step(self._unfinished_path, step)

    def is_due(self, step: int) -> bool:
        """Returns whether a process was killed before it had evaluated and exported a step."""
        return read_or_set_aside(self._unfinished_path, _read_step) == step

    def has_work_left(self, step: int) -> bool:
        """Returns whether training has reached the last step, but the last export is missing."""
        if not self.max_steps or step < self.max_steps:
            return False
        finished = read_or_set_aside(self._finished_path, _read_step)
        return finished is None or finished < step

    def _export(self, result: EvalResult) -> Sequence[Any]:
        base = os.path.join(self.estimator.model_dir, "export")
        return [
            exporter.export(
                estimator=self.estimator,
                export_path=os.path.join(base, exporter.name),
                checkpoint_path=result.checkpoint_path,
                eval_result=result.metrics,
                is_the_final_export=result.reached(self.max_steps),
            )
            for exporter in self.spec.exporters
        ]

    def _warn(self, message: str) -> None:
        """Logs a warning at most every ten minutes: a waiting loop looks every second."""
        now = self.clock()
        if self._warned_at is None or now - self._warned_at > _SECS_BETWEEN_WARNINGS:
            _LOG.warning("%s", message)
            self._warned_at = now


def _write_step(path: str, step: int) -> None:
    tf.io.gfile.makedirs(os.path.dirname(path))
    write_file(path, json.dumps({"global_step": step}) + "\n")


def _read_step(content: Any) -> int:
    return parse_integer(content["global_step"])
