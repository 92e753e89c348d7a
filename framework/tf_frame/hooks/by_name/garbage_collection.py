"""`GarbageCollectionHook`: runs Python's garbage collector only at chosen steps."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.training_clock import pause


class GarbageCollectionHook(Hook):
    """Collects garbage every N steps instead of automatically.

    A full collection visits the hundred thousands of Python objects of a graph, which makes single
    steps slow. After the first steps this hook freezes all live objects, so that no later
    collection visits them, and turns the automatic collection off. At the end it restores the
    collector.

    Args:
      every_steps: steps between collections.
      freeze_after_steps: step of the session after which objects are frozen.

    Raises:
      ValueError: a number that is not positive.
    """

    phase = Phase.LOG
    option = "--hook garbage_collection"

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
        # Only this collection visits the graph, and so it takes long.
        with pause():
            gc.collect()
        # Without a call of `close` after an error, the deletion of the hook restores the collector.
        self._restore = weakref.finalize(self, _restore, gc.isenabled())
        gc.freeze()
        gc.disable()

    def close(self) -> None:
        if self._restore is not None:
            self._restore()
            self._restore = None


def _restore(was_enabled: bool) -> None:
    gc.unfreeze()
    if was_enabled:
        gc.enable()
