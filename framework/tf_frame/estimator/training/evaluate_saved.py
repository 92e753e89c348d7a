"""Evaluates each checkpoint when it is saved: `tf-frame run --mode train_and_evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.training_clock import pause


class EvaluateSaved(tf.train.CheckpointSaverListener):
    """Evaluates each checkpoint between the first and the last one of a run.

    What the run begins with was evaluated before, and its last checkpoint is
    evaluated when training has ended. Evaluations count in no rate of steps.

    Args:
      evaluate: evaluates the checkpoint of a step; returns metric -> value.
      first_step: global step that the run begins from.
      last_step: global step that it ends at.
    """

    def __init__(
        self, evaluate: Callable[[int], Mapping[str, float]], *, first_step: int, last_step: int
    ) -> None:
        self._evaluate = evaluate
        self._first_step = first_step
        self._last_step = last_step

    def after_save(self, session: Any, global_step_value: int) -> None:
        if self._first_step < global_step_value < self._last_step:
            with pause():
                self._evaluate(global_step_value)
