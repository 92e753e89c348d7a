"""`StopAtStepHook` of TensorFlow: ends training at a step, between two steps."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.types import Session


class StopAtStepHook(Hook):
    """Requests a stop once the global step has reached a number.

    Arguments and errors follow `tf.compat.v1.train.StopAtStepHook`. A session that begins at or
    beyond the last step runs no step; with TensorFlow's hook it would run one more step.

    Args:
      num_steps: number of steps, counted from the begin of the first session.
      last_step: the global step to stop at; give one of the two.

    Raises:
      ValueError: both or neither are given.
      RuntimeError: from `begin`: the graph has no global step.
    """

    phase = Phase.STOP
    option = "--max_steps"
    # `should_stop` is only for sessions that begin at the last step or after it.
    asked_between_steps = False

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step
        self._reached = False
        super().__init__(_at(last_step))

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")

    def start(self, session: Session, step: int) -> None:
        if self._last_step is None:
            # Only once: a session after a lost one has the same last step.
            self._last_step = step + (self._num_steps or 0)
            self.cadence = _at(self._last_step)
        self._reached = step >= self._last_step
        super().start(session, step)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        run_context.request_stop()

    def should_stop(self) -> bool:
        return self._reached


def _at(step: int | None) -> Cadence:
    # `should_stop` handles step 0, because no run ends at step 0.
    return Cadence(at_steps=[step] if step is not None and step > 0 else [])
