"""Stops training after the current step once a signal has arrived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.hooks.base import Hook, Phase


class StopOnSignalHook(Hook):
    """Requests a stop when `received()` is true."""

    phase = Phase.STOP

    def __init__(self, received: Callable[[], object]) -> None:
        self._received = received

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._received():
            run_context.request_stop()
