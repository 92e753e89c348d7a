"""Background thread for hooks: writes summaries and logs while training goes on.

    write_in_background(writer.add_summary, summary, step)
    wait_for_background_writer()

The thread calls the functions in order, and gathers several calls: Python runs one thread at a
time, and gathered calls take a fraction of the time of single calls between steps.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any

# Time to gather further calls; `wait_for_background_writer` ends it at once.
_GATHER_SECS = 0.2

_Work = tuple[Callable[..., object], tuple[Any, ...]]


class _Worker:
    """The thread and its queue of calls."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._work: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="write_in_background", daemon=True)
        self._thread.start()

    def add(self, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        self.raise_error()
        self._work.put((function, arguments))

    def wait(self) -> None:
        if threading.current_thread() is self._thread:
            return  # A function of the thread flushes a writer, after those before it.
        done = threading.Event()
        self._work.put((done.set, ()))
        self._hurry.set()
        done.wait()
        self._hurry.clear()
        self.raise_error()

    def raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _go_on(self) -> None:
        while True:
            gathered = [self._work.get()]
            self._hurry.wait(_GATHER_SECS)
            while not self._work.empty():
                gathered.append(self._work.get())
            for work in gathered:
                self._do(work)

    def _do(self, work: _Work) -> None:
        function, arguments = work
        try:
            function(*arguments)
        except Exception as error:
            self._error = self._error or error


class _Current:
    worker: _Worker | None = None


def write_in_background(function: Callable[..., object], *arguments: Any) -> None:
    """Calls a function in the thread; a later call or wait raises its exception."""
    worker = _Current.worker
    # A forked process has the object, but not the thread.
    if worker is None or worker.process != os.getpid():
        worker = _Current.worker = _Worker()
    worker.add(function, arguments)


def wait_for_background_writer() -> None:
    """Waits until all functions have been called; in the thread itself, does nothing.

    Raises:
      Exception: the exception of a function.
    """
    worker = _Current.worker
    if worker is not None and worker.process == os.getpid():
        worker.wait()
