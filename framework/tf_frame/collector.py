"""Python's garbage collector, stopped while objects are made that stay."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Stops the collector inside the block or the decorated function.

    Modules, graphs and traces have hundreds of thousands of objects that stay. The collector walks
    through all of them again and again: a twentieth of a run's start, half of drawing a trace.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
