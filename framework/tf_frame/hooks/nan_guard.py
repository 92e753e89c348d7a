"""Ends training at the first step whose loss is not a finite number."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import NonFiniteError
from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Hook, Phase


class NanGuardHook(Hook):
    """Raises `NonFiniteError` before any later hook could save the step.

    Args:
      loss: scalar tensor to watch.
    """

    phase = Phase.CHECK

    def __init__(self, loss: Any) -> None:
        self._loss = loss

    def begin(self) -> None:
        self._step = step_after_run()

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs((self._loss, self._step))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, step = run_values.results
        if not math.isfinite(loss):
            raise NonFiniteError(
                f"the loss is {loss} at global step {step}; the step was "
                "not saved. Lower --learning_rate, look for a division or log of zero, or "
                "name the gradient with --transform check_finite"
            )
