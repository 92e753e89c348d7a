"""`GlobalStepWaiterHook` of TensorFlow: a worker waits until other workers reach a global step.

With `--startup_delay_steps` asynchronous workers start one after another, so that their first
gradients are not all computed from the initial values.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.types import Session

# Both as in tensorflow/python/training/basic_session_run_hooks.py.
_POLL_SECS = 0.5
_STEPS_BETWEEN_LINES = 1000


@dataclasses.dataclass(eq=False)
class GlobalStepWaiterHook(Hook):
    """Waits before the first step until other workers have moved the global step to a number.

    The argument and the log lines follow `tf.compat.v1.train.GlobalStepWaiterHook`. The hook waits
    when a session has been opened, so that no step runs if the wait is given up. A session after
    a lost one does not wait again.

    Args:
      wait_until_step: the global step to wait for; 0 or less: do not wait.
      give_up: called at every look at the global step; true, such as after a signal, ends the
        wait and training.
      log: function that logs a line, with the arguments of `logging.Logger.info`.

    Raises:
      RuntimeError: from `begin`: the graph has no global step.
    """

    # Before all other hooks, so that no hook measures the wait.
    phase = Phase.TRANSFORM
    option = "--startup_delay_steps"
    asked_between_steps = False

    wait_until_step: int
    _: dataclasses.KW_ONLY
    give_up: Callable[[], object] = lambda: False
    log: Callable[..., None] = tf.logging.info

    def __post_init__(self) -> None:
        super().__init__()
        self._waited = self.wait_until_step <= 0
        self._gave_up = False

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use _GlobalStepWaiterHook.")

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        if not self._waited:
            self._wait(session)
            self._waited = True

    def should_stop(self) -> bool:
        return self._gave_up

    def _wait(self, session: Session) -> None:
        target, last_logged = self.wait_until_step, 0
        self.log("Waiting for global step %d before starting training.", target)
        while (step := int(session.run(self._global_step))) < target:
            self._gave_up = bool(self.give_up())
            if self._gave_up:
                return
            if step - last_logged > _STEPS_BETWEEN_LINES:
                self.log(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    target,
                    step,
                )
                last_logged = step
            time.sleep(_POLL_SECS)
