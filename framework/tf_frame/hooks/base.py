"""Phases of a step, and what all our hooks share.

After each step the hooks of every session run in this order:

    for phase in (transform, check, observe, save, evaluate, log, stop):
        for hook in hooks of that phase, in the order given:
            hook.after_run(...)

A hook that raises ends the step: no hook after it runs. So what the check
phase rejects is never saved.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf


class Phase(enum.IntEnum):
    """When a hook runs within a step."""

    TRANSFORM = 0
    CHECK = 1
    OBSERVE = 2
    SAVE = 3
    EVALUATE = 4
    LOG = 5
    STOP = 6


class Hook(tf.train.SessionRunHook):
    """A session hook with a phase."""

    phase = Phase.OBSERVE


def in_phase_order(hooks: Iterable[Any]) -> list[Any]:
    """Sorts hooks by phase; those without one count as observers."""
    return sorted(hooks, key=lambda hook: getattr(hook, "phase", Phase.OBSERVE))


class Cadence:
    """Every so many steps, or every so many seconds; the first step always counts.

    Args:
      every_steps: steps from one time to the next.
      every_secs: seconds likewise; give exactly one of the two.
    """

    def __init__(self, *, every_steps: int | None = None, every_secs: float | None = None) -> None:
        if (every_steps is None) == (every_secs is None):
            raise ValueError(
                f"give one of every_steps ({every_steps}) and every_secs ({every_secs})"
            )
        self.every_steps = every_steps
        self.every_secs = every_secs
        self._last_step: int | None = None
        self._last_time = 0.0

    def wants(self, step: int) -> bool:
        """Whether `step` is one of its times."""
        if self._last_step is None:
            return True
        if self.every_steps is not None:
            return step >= self._last_step + self.every_steps
        return time.monotonic() >= self._last_time + (self.every_secs or 0)

    def mark(self, step: int) -> None:
        """Notes that it was done at `step`."""
        self._last_step = step
        self._last_time = time.monotonic()
