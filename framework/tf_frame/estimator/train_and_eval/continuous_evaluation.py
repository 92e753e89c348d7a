"""Evaluates the checkpoints of a training that goes on in other processes.

Delays and log lines are those of `_start_continuous_evaluation` of
tensorflow_estimator, training.py. But while there is nothing new this looks
every second, whatever `throttle_secs` says, and waits in between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from tf_frame.checkpoint.find.newest import damage_of
from tf_frame.errors import CheckpointError
from tf_frame.estimator.train_and_eval.checkpoint_evaluation import (
    EVALUATED,
    NO_NEW_CHECKPOINT,
    CheckpointEvaluator,
    EvalResult,
)
from tf_frame.estimator.train_and_eval.evaluation_listener import ContinuousEvalListener
from tf_frame.estimator.train_and_eval.specs import EvalSpec

_LOG = logging.getLogger("tf_frame")
_LOOK_SECS = 1.0


def evaluate_continuously(
    evaluator: CheckpointEvaluator,
    eval_spec: EvalSpec,
    max_steps: int | None,
    listener: ContinuousEvalListener,
    *,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    """Evaluates and exports each new checkpoint, until one of the last step is done.

    Args:
      evaluator: evaluates the newest checkpoint.
      eval_spec: when to begin, and how often to evaluate.
      max_steps: the last step; None to go on for ever.
      listener: asked before and after each look at the checkpoints whether to go on.
      clock, sleep: where the time comes from.
    """
    if eval_spec.start_delay_secs:
        _LOG.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        sleep(eval_spec.start_delay_secs)
    while True:
        started = clock()
        if not listener.before_eval():
            _LOG.info("Exiting evaluation, as requested by before_eval.")
            return
        result = _evaluated(evaluator)
        if not listener.after_eval(result):
            _LOG.info("Exiting evaluation, as requested by after_eval.")
            return
        if result.reached(max_steps):
            step = (result.metrics or {})["global_step"]
            _LOG.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, max_steps)
            return
        secs = _LOOK_SECS
        if result.status == EVALUATED:
            secs = started + eval_spec.throttle_secs - clock()
            _LOG.info("Waiting %f secs before starting next eval run.", max(secs, 0))
        if secs > 0:
            sleep(secs)


def _evaluated(evaluator: CheckpointEvaluator) -> EvalResult:
    """Evaluates what is new; what training has deleted meanwhile is passed over."""
    try:
        return evaluator.evaluate_and_export()[0]
    except CheckpointError:
        if evaluator.checkpoint is None or not damage_of(evaluator.checkpoint):
            raise
        _LOG.warning("passing over %s, which is gone or damaged by now", evaluator.checkpoint)
        return EvalResult(NO_NEW_CHECKPOINT)
