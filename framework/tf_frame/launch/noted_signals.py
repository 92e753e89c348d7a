"""Signals of the launcher: Ctrl-C and SIGTERM as a list, which it reads where it suits it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def signals_noted() -> Iterator[list[int]]:
    """Inside the block a signal is only added to the list that is yielded.

    Nor is SIGCHLD ignored there, as a caller may have it: how a task ended would be lost.
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
