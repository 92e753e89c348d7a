"""`Interrupts`: on Ctrl-C or SIGTERM, a run finishes the current step, saves it and stops."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from tf_frame.errors import TfFrameError

_NOTED = b"\ntf-frame: stopping as soon as it is safe; once more to stop at once\n"


class Interrupted(TfFrameError):
    """A signal ended the run; `exit_code` is 128 plus its number."""

    def __init__(self, signum: int, message: str) -> None:
        super().__init__(f"{signal.Signals(signum).name}: {message}")
        self.signum = signum
        self.exit_code = 128 + signum


class Interrupts:
    """Receives SIGINT and SIGTERM while it is installed.

    The first signal is only recorded in `received`, which the caller reads at points where it is
    safe to stop: an exception during an import, or while a graph is built, may be swallowed or
    replaced by another exception. A second signal raises `Interrupted` at once.

    Attributes:
      received: number of the last signal, None before the first.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.received: int | None = None

    @contextlib.contextmanager
    def installed(self) -> Iterator[Interrupts]:
        """Handles the signals inside the block, in the main thread only."""
        with self._handled_by(self._handle):
            yield self

    def deadly(self) -> contextlib.AbstractContextManager[None]:
        """Lets a signal end the process at once inside the block, with the usual exit status.

        For a call into TensorFlow that may block for ever: Python runs no handler before the
        call returns.
        """
        return self._handled_by(signal.SIG_DFL)

    def raising(self, message: str) -> contextlib.AbstractContextManager[None]:
        """Lets a signal raise `Interrupted` at once inside the block, where no work is lost."""

        def stop(signum: int, frame: FrameType | None) -> None:
            raise Interrupted(signum, message)

        return self._handled_by(stop)

    @contextlib.contextmanager
    def _handled_by(self, handler: Any) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {signum: signal.signal(signum, handler) for signum in self.SIGNALS}
        try:
            yield
        finally:
            for signum, old in before.items():
                signal.signal(signum, old)

    def raise_if_received(self, message: str = "stopped; nothing was being trained") -> None:
        """Raises `Interrupted` if a signal was received; call it where no work is lost."""
        if self.received is not None:
            raise Interrupted(self.received, message)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        first = self.received is None
        self.received = signum
        if first:
            # `print` is not reentrant, and the signal may interrupt one.
            with contextlib.suppress(OSError):  # Standard error may be closed or full.
                os.write(2, _NOTED)
        else:
            raise Interrupted(signum, "stopped at once; what was not saved yet is lost")
