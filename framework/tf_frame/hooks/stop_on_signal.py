"""Stops training after the current step once a signal has arrived."""

from __future__ import annotations

from collections.abc import Callable

from tf_frame.hooks.base import Hook, Phase


class StopOnSignalHook(Hook):
    """Requests a stop when `received()` is true; it is asked between all steps.

    Args:
      received: must be quick.
    """

    phase = Phase.STOP

    def __init__(self, received: Callable[[], object]) -> None:
        super().__init__()
        self._received = received

    def should_stop(self) -> bool:
        return bool(self._received())
