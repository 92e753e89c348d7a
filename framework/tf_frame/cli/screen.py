"""Output of the commands: flushed lines, bold text on terminals, no error in `... | head`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any


def emphasised(text: str) -> str:
    """Returns text in bold for a terminal, unchanged otherwise or if NO_COLOR is set."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[1m{text}\033[0m"


def report(text: str) -> None:
    """Prints a line and flushes it, so that it is in a file at once."""
    print(text, flush=True)


class _PipeStream:
    """A stream that ignores further output once its reader has closed the pipe."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._reader_may_leave():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._reader_may_leave():
            self._stream.flush()

    @contextlib.contextmanager
    def _reader_may_leave(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            silence(self._stream)


def silence(stream: Any) -> None:
    """Redirects a stream to the null device, since the interpreter flushes it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@contextlib.contextmanager
def reader_may_leave() -> Iterator[None]:
    """Keeps the work within running if the reader of its output exits (`| head`)."""
    before, sys.stdout = sys.stdout, _PipeStream(sys.stdout)
    try:
        yield
    finally:
        sys.stdout = before
