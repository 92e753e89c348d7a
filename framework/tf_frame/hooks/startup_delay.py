"""Lets a worker begin later than the others."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase

_LOG = logging.getLogger("tf_frame")
_POLL_SECS = 0.5
_STEPS_BETWEEN_LINES = 1000


class StartupDelayHook(Hook):
    """Waits before the first step until other workers have come to a step, and some seconds.

    Workers that begin one by one make large early updates one at a time. This is
    `tf.compat.v1.train.GlobalStepWaiterHook` with seconds, and it gives way to
    a request to stop. A session that is made anew after a loss does not wait
    again.

    Args:
      until_step: global step that must have been reached; 0: none. The only
        worker would wait for ever.
      secs: seconds to wait at least, from the session's start.
      stop: asked while waiting; true ends the wait.
      sleep: waits for so many seconds.

    Raises:
      ValueError: a negative number.
    """

    # Before all others, so that none of them counts the wait as its own time.
    phase = Phase.TRANSFORM

    def __init__(
        self,
        *,
        until_step: int = 0,
        secs: float = 0.0,
        stop: Callable[[], object] = lambda: False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if until_step < 0 or secs < 0:
            raise ValueError(f"until_step is {until_step}, secs {secs}; neither may be negative")
        self._until_step = until_step
        self._secs = secs
        self._stop = stop
        self._sleep = sleep
        self._started = False
        super().__init__()

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        if self._started or not (self._until_step or self._secs):
            return
        _LOG.info("waiting for global step %d and %g s to pass", self._until_step, self._secs)
        reached = self._wait(session, step)
        self._started = True
        _LOG.info("waited until global step %d", reached)

    def _wait(self, session: Any, step: int) -> int:
        """Waits, and returns the global step then."""
        global_step = tf.train.get_global_step(session.graph)
        end, told = time.monotonic() + self._secs, step
        while not self._stop():
            left = end - time.monotonic()
            if step >= self._until_step and left <= 0:
                break
            self._sleep(_POLL_SECS if step < self._until_step else min(left, _POLL_SECS))
            step = int(session.run(global_step))
            if step - told > _STEPS_BETWEEN_LINES:
                _LOG.info("waiting for global step %d; it is %d", self._until_step, step)
                told = step
        return step
