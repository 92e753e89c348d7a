"""Ends training at the first step whose loss is not a finite number."""

from __future__ import annotations

import logging
from typing import Any

from tf_frame.errors import NonFiniteError
from tf_frame.hooks.base import Hook, Phase

_LOG = logging.getLogger("tf_frame")


class NanGuardHook(Hook):
    """Ends training at a loss that is NaN or infinite, before a later hook could save the step.

    Args:
      loss: scalar tensor to watch.
      on_nan: `raise`, or `stop`: requests a stop and logs why; the session then
        ends well. What the variables hold by then must not be saved: who saves
        asks `diverged`.

    Attributes:
      diverged: whether a loss of this session was not finite.

    Raises:
      NonFiniteError: in that step, with `raise`.
      ValueError: another word for `on_nan`.
    """

    phase = Phase.CHECK

    def __init__(self, loss: Any, *, on_nan: str = "raise") -> None:
        if on_nan not in ("raise", "stop"):
            raise ValueError(f"on_nan is {on_nan!r}; it must be raise or stop")
        super().__init__()
        self.watched = loss
        self.diverged = False
        self._raise = on_nan == "raise"

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self.diverged = False  # The variables are those of a checkpoint again.

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        self.diverged = True
        message = (
            f"the loss is {value} at global step {step} (tensor {self.watched.op.name}); the step "
            "was not saved. Lower --learning_rate, look for a division or log of zero, or "
            "name the gradient with --transform check_finite"
        )
        if self._raise:
            raise NonFiniteError(message)
        _LOG.error("training stops: %s", message)
        run_context.request_stop()
