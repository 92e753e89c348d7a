"""Evaluation of new checkpoints: in the training process, or in a task of its own.

`EvaluationListener` follows `_NewCheckpointListenerForEvaluate` of tensorflow_estimator,
training.py. `evaluate_continuously` has the delays and log lines of the same file's
`_start_continuous_evaluation`, but looks for new checkpoints every second, for any `throttle_secs`.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, read_step
from tf_frame.errors import CheckpointError
from tf_frame.estimator.train_and_eval.checkpoint_evaluator import (
    EVALUATED,
    NO_NEW_CHECKPOINT,
    CheckpointEvaluator,
    EvalResult,
)
from tf_frame.hooks.training_clock import pause

_LOG = logging.getLogger("tf_frame")
_LOOK_SECS = 1.0


@dataclasses.dataclass(eq=False)
class EvaluationListener(tf.train.CheckpointSaverListener):
    """Evaluates a checkpoint that was just saved, unless the last evaluation is too recent.

    Evaluates the checkpoint at the begin of the session only if an earlier process was killed
    before it had; always evaluates the last one.
    Training continues in the same session. Rates of steps leave out the time of an evaluation.

    Attributes:
      evaluator: evaluates the newest checkpoint.
      eval_result: result of the last evaluation; None before the first one.
      export_results: return values of the exporters after the last evaluation.
    """

    evaluator: CheckpointEvaluator
    eval_result: EvalResult | None = None
    export_results: Sequence[Any] | None = None

    def begin(self) -> None:
        self._done_step = read_step(self.evaluator.estimator.latest_checkpoint())
        self._evaluated_step: int | None = None
        self._next_time: float | None = None
        if self._done_step and self.evaluator.is_due(self._done_step):
            self._evaluate(self._done_step)

    def before_save(self, session: Any, global_step_value: int) -> None:
        if global_step_value > self._done_step and not self._is_throttled():
            self.evaluator.note_due(global_step_value)

    def after_save(self, session: Any, global_step_value: int) -> None:
        if global_step_value <= self._done_step:
            return
        if self._is_throttled():
            _LOG.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self.evaluator.spec.throttle_secs,
            )
            return
        self._evaluate(global_step_value)

    def end(self, session: Any, global_step_value: int) -> None:
        if global_step_value != self._evaluated_step:
            self._evaluate(global_step_value)

    def _is_throttled(self) -> bool:
        return self._next_time is not None and self.evaluator.clock() < self._next_time

    def _evaluate(self, step: int) -> None:
        self._next_time = self.evaluator.clock() + self.evaluator.spec.throttle_secs
        self._done_step = self._evaluated_step = step
        with pause():
            self.eval_result, self.export_results = self.evaluator.evaluate_and_export()
        if self.eval_result.status != EVALUATED:
            raise RuntimeError(
                "There was no new checkpoint after the training. Eval status: "
                f"{self.eval_result.status}"
            )


def evaluate_continuously(
    evaluator: CheckpointEvaluator, *, sleep: Callable[[float], None]
) -> None:
    """Evaluates and exports the checkpoints of another process, up to the last step."""
    eval_spec, max_steps, clock = evaluator.spec, evaluator.max_steps, evaluator.clock
    if eval_spec.start_delay_secs:
        _LOG.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        sleep(eval_spec.start_delay_secs)
    while True:
        started = clock()
        result = _evaluate_if_new(evaluator)
        if result.reached(max_steps):
            _LOG.info(
                "Exiting evaluation, global_step=%s >= train max_steps=%s", result.step, max_steps
            )
            return
        secs = _LOOK_SECS
        if result.status == EVALUATED:
            secs = started + eval_spec.throttle_secs - clock()
            _LOG.info("Waiting %f secs before starting next eval run.", max(secs, 0))
        if secs > 0:
            sleep(secs)


def _evaluate_if_new(evaluator: CheckpointEvaluator) -> EvalResult:
    """Evaluates a new checkpoint; skips one that training has deleted in the meantime."""
    try:
        return evaluator.evaluate_and_export()[0]
    except CheckpointError:
        if evaluator.checkpoint is None or not find_damage(evaluator.checkpoint):
            raise
        _LOG.warning("skipping %s, which is gone or damaged by now", evaluator.checkpoint)
        return EvalResult(NO_NEW_CHECKPOINT)
