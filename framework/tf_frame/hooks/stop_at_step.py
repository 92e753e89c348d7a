"""Stops training at a global step."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Hook, Phase


class StopAtStepHook(Hook):
    """Requests a stop once the global step has reached `last_step`."""

    phase = Phase.STOP

    def __init__(self, last_step: int) -> None:
        self._last_step = last_step

    def begin(self) -> None:
        self._step = step_after_run()

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results >= self._last_step:
            run_context.request_stop()
