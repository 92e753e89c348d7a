"""Stops training at a global step, or after so many steps."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence


class StopAtStepHook(Hook):
    """Requests a stop once the global step has reached a number.

    Arguments and errors are those of `tf.compat.v1.train.StopAtStepHook`. A
    session that begins at the last step or beyond it runs no step; TensorFlow's
    hook runs one more there.

    Args:
      num_steps: steps to run from where the first session begins.
      last_step: the global step to stop at; give one of them.

    Raises:
      ValueError: both or none of them.
    """

    phase = Phase.STOP
    asked_between_steps = False  # It asks for its stop itself, but where no step is to be run.

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step
        self._reached = False
        super().__init__(_only(last_step))

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")

    def start(self, session: Any, step: int) -> None:
        if self._last_step is None:
            # Only once: a session that is made anew after a failure goes on to the same step.
            self._last_step = step + (self._num_steps or 0)
            self.cadence = _only(self._last_step)
        self._reached = step >= self._last_step
        super().start(session, step)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        run_context.request_stop()

    def should_stop(self) -> bool:
        return self._reached


def _only(step: int | None) -> Cadence:
    # There is no step 0 to be run, so stopping there is a matter of `should_stop`.
    return Cadence(at_steps=[step] if step is not None and step > 0 else [])
