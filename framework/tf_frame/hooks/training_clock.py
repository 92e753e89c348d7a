"""Clock that stops during evaluations and other pauses, so that steps/s measure only training."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class _Pauses:
    # Begin of the present pause, and the seconds of all earlier pauses; one tuple, because another
    # thread may read both at any moment.
    state: tuple[float | None, float] = (None, 0.0)
    traced = 0


def training_clock() -> float:
    """Returns the seconds of `time.monotonic` without the pauses of this process."""
    began, paused_secs = _Pauses.state
    return (time.monotonic() if began is None else began) - paused_secs


@contextlib.contextmanager
def pause() -> Iterator[None]:
    """Stops the training clock inside the block, for work such as an evaluation."""
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
    """Counts the present step as traced, and so as slow; call it in `before_step`."""
    _Pauses.traced += 1


def traced_steps() -> int:
    """Returns the number of traced steps of this process."""
    return _Pauses.traced
