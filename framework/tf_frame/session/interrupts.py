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

    The first signal is only noted: an exception in the midst of an import or
    of building a graph may be swallowed or come out as another. Who does the
    work looks at `received` where it is safe to stop. A second signal raises
    `Interrupted` at once.

    Attributes:
      received: number of the last signal, None before the first.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.received: int | None = None

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

    def raise_if_received(self) -> None:
        """Raises `Interrupted` for a signal that was noted; call it where nothing is lost."""
        if self.received is not None:
            raise Interrupted(self.received, "stopped; nothing was being trained")

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        first = self.received is None
        self.received = signum
        if not first:
            raise Interrupted(signum, "stopped at once; what was not saved yet is lost")
