"""Keeps Python's garbage collector out of the way of the steps."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.training_clock import pause


class GarbageCollectionHook(Hook):
    """Collects garbage at steps of its own choice instead of at any moment.

    A graph is some hundred thousand Python objects, and a full collection looks
    at all of them, which makes single steps slow. After the first steps this
    hook freezes what is alive, so that no collection looks at it again, and
    turns the automatic collection off; then it collects every so many steps. At
    the end the collector is as it was before.

    Args:
      every_steps: steps from one collection to the next.
      freeze_after_steps: steps of the session before it begins.

    Raises:
      ValueError: a number that is not positive.
    """

    phase = Phase.LOG

    def __init__(self, *, every_steps: int = 1000, freeze_after_steps: int = 10) -> None:
        if every_steps <= 0 or freeze_after_steps <= 0:
            raise ValueError(
                f"every_steps is {every_steps}, freeze_after_steps {freeze_after_steps}; "
                "they must be positive"
            )
        self._restore: weakref.finalize[Any, Any] | None = None
        super().__init__(Multiples(every_steps, first=freeze_after_steps))

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if self._restore is not None:
            gc.collect()
            return
        # This once, all of the graph is looked at, which takes long.
        with pause():
            gc.collect()
        # Called by close, and where an error lets nobody call it, when the hook goes.
        self._restore = weakref.finalize(self, _restore, gc.isenabled())
        gc.freeze()
        gc.disable()

    def end(self, session: Any) -> None:
        self.close()

    def close(self) -> None:
        """Makes the collector what it was; safe to call twice."""
        if self._restore is not None:
            self._restore()
            self._restore = None


def _restore(was_enabled: bool) -> None:
    gc.unfreeze()
    if was_enabled:
        gc.enable()
