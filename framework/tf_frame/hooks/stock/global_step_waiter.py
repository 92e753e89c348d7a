"""TensorFlow's `GlobalStepWaiterHook`: a worker that begins when others have begun."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence

# Both as in tensorflow/python/training/basic_session_run_hooks.py.
_POLL_SECS = 0.5
_STEPS_BETWEEN_LINES = 1000


class GlobalStepWaiterHook(Hook):
    """Holds the first step back until the global step, which others move, has reached a number.

    Arguments and lines are those of `tf.compat.v1.train.GlobalStepWaiterHook`.
    After the first step it wants none.

    Args:
      wait_until_step: the global step to wait for; 0 or less waits for none.
      give_up: asked at every look at the global step; something true ends the
        wait, and training with it after one step. For signals, which else would
        not be heard.
    """

    # First, so that no other hook prepares a step, or notes the time, and then waits.
    phase = Phase.TRANSFORM

    def __init__(
        self, wait_until_step: int, *, give_up: Callable[[], object] = lambda: False
    ) -> None:
        super().__init__()
        self._wait_until_step = wait_until_step
        self._give_up = give_up

    def begin(self) -> None:
        self._waited = self._wait_until_step <= 0
        self._global_step = tf.train.get_global_step()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use _GlobalStepWaiterHook.")

    def start(self, session: Any, step: int) -> None:
        self.cadence = Cadence(at_steps=[step + 1])
        super().start(session, step)

    def before_step(self, run_context: Any, step: int) -> Any:
        if not self._waited:
            self._wait(run_context)
            self._waited = True  # A session that is made anew after a failure waits no more.

    def _wait(self, run_context: Any) -> None:
        target = self._wait_until_step
        tf.logging.info("Waiting for global step %d before starting training.", target)
        last_logged = 0
        while (step := int(run_context.session.run(self._global_step))) < target:
            if self._give_up():
                run_context.request_stop()
                return
            if step - last_logged > _STEPS_BETWEEN_LINES:
                tf.logging.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    target,
                    step,
                )
                last_logged = step
            time.sleep(_POLL_SECS)
