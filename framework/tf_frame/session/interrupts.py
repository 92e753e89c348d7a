"""Ctrl-C and SIGTERM: finish the step, save, and say how to go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tf_frame.errors import TfFrameError


class Interrupted(TfFrameError):
    """A signal ended the run; `exit_code` is 128 plus its number."""

    def __init__(self, signum: int, message: str) -> None:
        super().__init__(f"{signal.Signals(signum).name}: {message}")
        self.exit_code = 128 + signum


class Interrupts:
    """Receives SIGINT and SIGTERM while it is installed.

    Outside `patiently` a signal raises `Interrupted` at once: nothing is lost.
    Inside, the first one is only noted, so that the step can be finished and
    saved; a second one raises.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.received: int | None = None
        self._patient = False

    @contextmanager
    def installed(self) -> Iterator[Interrupts]:
        """Handles the signals within; a thread other than the main one cannot, and does not."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = {signum: signal.signal(signum, self._handle) for signum in self.SIGNALS}
        try:
            yield self
        finally:
            for signum, handler in before.items():
                signal.signal(signum, handler)

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Notes the first signal instead of raising."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        first = self.received is None
        self.received = signum
        if not self._patient:
            raise Interrupted(signum, "stopped; nothing was being trained")
        if not first:
            raise Interrupted(signum, "stopped at once; what was not saved yet is lost")
