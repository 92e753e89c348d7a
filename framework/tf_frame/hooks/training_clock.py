"""What would falsify rates of steps: pauses, such as for an evaluation, and traced steps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class _Pauses:
    # When the pause that is on began, and the seconds of those that are over; one
    # tuple, for a thread may look at any moment.
    state: tuple[float | None, float] = (None, 0.0)
    traced = 0


def training_clock() -> float:
    """Seconds of `time.monotonic` without the pauses of this process."""
    began, paused_secs = _Pauses.state
    return (time.monotonic() if began is None else began) - paused_secs


@contextlib.contextmanager
def pause() -> Iterator[None]:
    """What runs within is no training: no rate counts it, and no step is slow for it."""
    began, paused_secs = _Pauses.state
    if began is not None:
        yield
        return
    began = time.monotonic()
    _Pauses.state = (began, paused_secs)
    try:
        yield
    finally:
        _Pauses.state = (None, paused_secs + time.monotonic() - began)


def mark_traced() -> None:
    """Says that the step at hand is traced, which makes it slower; call it in `before_step`."""
    _Pauses.traced += 1


def traced_steps() -> int:
    """How many steps of this process have been traced; it only ever grows."""
    return _Pauses.traced
