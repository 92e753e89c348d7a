"""Collects Ctrl-C and SIGTERM in a list, so that a loop reacts to them between two steps."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def note_signals() -> Iterator[list[int]]:
    """Inside the block a signal is only added to the list that is yielded.

    SIGCHLD gets its default there: if the caller ignores it, exit codes of tasks are lost.
    """
    received: list[int] = []

    def note(signum: int, frame: FrameType | None) -> None:
        received.append(signum)

    before = {signum: signal.signal(signum, note) for signum in (signal.SIGINT, signal.SIGTERM)}
    before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield received
    finally:
        for signum, old in before.items():
            signal.signal(signum, old)
