"""`NanGuardHook`: ends training at a loss that is not finite (`--on_nan`).

The loss is checked in every step, and a bad step is never saved.
"""

from __future__ import annotations

import logging
from typing import Any

from tf_frame.errors import NonFiniteError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.types import Session, Tensor

_LOG = logging.getLogger("tf_frame")


class NanGuardHook(Hook):
    """Ends training at a loss that is NaN or infinite, before a later hook could save the step.

    Args:
      loss: scalar tensor to watch.
      on_nan: `raise`, or `stop`, which logs the reason and ends the session without an error.
        Hooks that save must check `diverged` then.

    Attributes:
      diverged: whether a loss of this session was not finite.

    Raises:
      NonFiniteError: from `not_finite`, for `raise`.
      ValueError: another value of `on_nan`.
    """

    phase = Phase.CHECK
    option = "--on_nan"

    def __init__(self, loss: Tensor, *, on_nan: str = "raise") -> None:
        if on_nan not in ("raise", "stop"):
            raise ValueError(f"on_nan is {on_nan!r}; it must be raise or stop")
        super().__init__()
        self.watched = loss
        self.diverged = False
        self._raise = on_nan == "raise"

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self.diverged = False  # The variables have been restored from a checkpoint.

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        self.diverged = True
        message = (
            f"the loss is {value} at global step {step} (tensor {self.watched.op.name}); the step "
            "was not saved. Lower --learning_rate, look for a division or log of zero, or "
            "name the gradient with --transform check_finite"
        )
        if self._raise:
            raise NonFiniteError(message, step=step)
        _LOG.error("training stops: %s", message)
        run_context.request_stop()
