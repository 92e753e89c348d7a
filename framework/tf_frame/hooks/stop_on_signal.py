"""`StopOnSignalHook`: ends training on a signal, between two steps."""

from __future__ import annotations

from collections.abc import Callable

from tf_frame.hooks.base import Hook, Phase


class StopOnSignalHook(Hook):
    """Requests a stop after the current step once a signal has arrived.

    Args:
      received: asked between all steps, so it must be quick; true requests the stop.
    """

    phase = Phase.STOP

    def __init__(self, received: Callable[[], object]) -> None:
        super().__init__()
        self._received = received

    def should_stop(self) -> bool:
        return bool(self._received())
