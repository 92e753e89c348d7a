"""Evaluates checkpoints as they are saved, in the process that trains.

Source of what it does: `_NewCheckpointListenerForEvaluate` of
tensorflow_estimator, training.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import step_of
from tf_frame.estimator.train_and_eval.checkpoint_evaluation import (
    EVALUATED,
    CheckpointEvaluator,
    EvalResult,
)
from tf_frame.hooks.training_clock import pause

_LOG = logging.getLogger("tf_frame")


class ContinuousEvalListener:
    """Asked before and after each evaluation whether to go on; a subclass may say no."""

    def before_eval(self) -> bool:
        """Returns false to leave this evaluation out and to end."""
        return True

    def after_eval(self, eval_result: EvalResult | None) -> bool:
        """Returns false to end.

        Args:
          eval_result: what came of the evaluation.
        """
        return True


class EvaluationListener(tf.train.CheckpointSaverListener):
    """Evaluates what has just been saved, unless the last evaluation is too recent.

    What the session began with is not evaluated; the last checkpoint always is.
    Training goes on in its session afterwards. The time that an evaluation takes
    counts in no rate of steps.

    Args:
      evaluator: evaluates the newest checkpoint.
      first_checkpoint: returns the checkpoint that training begins from, or None.
      throttle_secs: seconds from the start of one evaluation to the next, at least.
      listener: asked whether to go on.
      clock: where the seconds come from.

    Attributes:
      eval_result: of the last evaluation; None before the first.
      export_results: what the exporters returned then.
    """

    def __init__(
        self,
        evaluator: CheckpointEvaluator,
        first_checkpoint: Callable[[], str | None],
        throttle_secs: float,
        listener: ContinuousEvalListener,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._evaluator = evaluator
        self._first_checkpoint = first_checkpoint
        self._throttle_secs = throttle_secs
        self._listener = listener
        self._clock = clock
        self.eval_result: EvalResult | None = None
        self.export_results: Sequence[Any] | None = None

    def begin(self) -> None:
        self._done_step = step_of(self._first_checkpoint())
        self._evaluated_step: int | None = None
        self._evaluated_at: float | None = None

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        if global_step_value <= self._done_step:
            return None
        if not self._listener.before_eval():
            _LOG.info("Exiting training and evaluation loop, as requested by before_eval.")
            return True
        if not self._is_time():
            _LOG.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._throttle_secs,
            )
            return None
        self._evaluate(global_step_value)
        if not self._listener.after_eval(self.eval_result):
            _LOG.info("Exiting evaluation, as requested by after_eval.")
            return True
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        if global_step_value != self._evaluated_step and self._listener.before_eval():
            self._evaluate(global_step_value)
            self._listener.after_eval(self.eval_result)

    def _is_time(self) -> bool:
        if self._evaluated_at is None:
            return True
        return self._clock() >= self._evaluated_at + self._throttle_secs

    def _evaluate(self, step: int) -> None:
        self._evaluated_at = self._clock()
        self._done_step = self._evaluated_step = step
        with pause():
            self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != EVALUATED:
            raise RuntimeError(
                "There was no new checkpoint after the training. Eval status: "
                f"{self.eval_result.status}"
            )
