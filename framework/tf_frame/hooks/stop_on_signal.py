"""`StopOnSignalHook`: ends training on a signal, between two steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tf_frame.hooks.base import Hook, Phase


@dataclasses.dataclass(eq=False)
class StopOnSignalHook(Hook):
    """Requests a stop after the current step once a signal has arrived.

    Args:
      received: asked between all steps, so it must be quick; true requests the stop.
    """

    phase = Phase.STOP
    received: Callable[[], object]

    def __post_init__(self) -> None:
        super().__init__()

    def should_stop(self) -> bool:
        return bool(self.received())
