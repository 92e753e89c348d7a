"""What the user sees: lines, tables and a little emphasis, plain when redirected."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def emphasised(text: str) -> str:
    """Bold on a terminal, plain elsewhere or with NO_COLOR set."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[1m{text}\033[0m"


def report(text: str) -> None:
    """Prints a line at once, also into a file."""
    print(text, flush=True)


def columns(rows: Iterable[Sequence[str]], *, indent: int = 2) -> str:
    """Lays rows out in columns as wide as their widest cell."""
    rows = [tuple(row) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return "\n".join(
        " " * indent
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


class _Sturdy:
    """A stream that goes quiet when its reader has left, instead of raising."""

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
    """Sends all that comes to nowhere; the interpreter writes once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextlib.contextmanager
def reader_may_leave() -> Iterator[None]:
    """Lets the work within go on when nobody reads its output any more (`| head`)."""
    before, sys.stdout = sys.stdout, _Sturdy(sys.stdout)
    try:
        yield
    finally:
        sys.stdout = before
