"""Terminal output of the commands: flushed lines, bold text, no traceback if a write fails."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from tf_frame.errors import TfFrameError
from tf_frame.text import printable
from tf_frame.text_width import fit_page

_MOST_CHARACTERS = 1000
_BOLD, _PLAIN = "\033[1m", "\033[0m"
_CLEAR = "\033[H\033[2J"
# A name of a file may have one of the two, but hardly both around a text.
_EMPHASIS = re.compile(f"{re.escape(_BOLD)}([^\033]*){re.escape(_PLAIN)}")


def emphasised(text: str) -> str:
    """Returns text in bold for a terminal, unchanged otherwise or if NO_COLOR is set."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"{_BOLD}{text}{_PLAIN}"


def _harmless(text: str) -> str:
    """Returns text without what steers a terminal, apart from bold: names come from strangers."""
    parts = [printable(part, keep="\n\t") for part in _EMPHASIS.split(text)]
    parts[1::2] = [f"{_BOLD}{part}{_PLAIN}" for part in parts[1::2]]
    return "".join(parts)


class OutputError(TfFrameError):
    """Standard output cannot be written, such as to a full disk."""


def report(text: str) -> None:
    """Prints a line and flushes it, so that it is in a file at once.

    Raises:
      BrokenPipeError: nobody reads the pipe.
      OutputError: standard output cannot be written for another reason.
    """
    try:
        print(_harmless(text), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        silence(sys.stdout)
        raise OutputError(f"standard output cannot be written: {error.strerror}") from None


def clear_screen() -> None:
    """Empties the terminal, if standard output is one."""
    if sys.stdout.isatty():
        print(_CLEAR, end="", flush=True)


def report_help(text: str) -> None:
    """Prints a help text, which is fitted to the width of the terminal; errors as of `report`."""
    report(fit_page(text))


def complain(text: str) -> None:
    """Prints to standard error, if that can be written: there is no other place for it.

    Messages quote at most some 200 characters of a value (`tf_frame.text`); a line that is far too
    long nonetheless, such as one of another package, is cut in the middle.
    """
    shown = "\n".join(map(_cut, _harmless(text).split("\n")))
    try:
        print(shown, file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def print_error(error: object) -> None:
    """Prints an error, or a line about one, as a message of tf-frame to standard error."""
    complain(f"tf-frame: {error}")


def _cut(line: str) -> str:
    left_out = len(line) - _MOST_CHARACTERS
    if left_out <= 0:
        return line
    half = _MOST_CHARACTERS // 2
    return f"{line[:half]} ... {left_out} more characters ... {line[-half:]}"


def prepare_streams() -> None:
    """Makes standard output and error safe to print to.

    A stream that the caller has closed (`>&-`) becomes the null device: else Python has None
    instead, and the next file that is opened gets its number. Characters that the encoding of a
    stream lacks are written with a backslash.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # The lowest free number, which is this one.
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w"))
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class _LastingStream:
    """A stream that ignores further output once it cannot be written, so that work goes on.

    It is silent if the reader of a pipe has left; other reasons go to standard error.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._may_fail():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._may_fail():
            self._stream.flush()

    @contextlib.contextmanager
    def _may_fail(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            silence(self._stream)
            if not isinstance(error, BrokenPipeError):
                complain(
                    f"tf-frame: standard output cannot be written: {error.strerror}; going on "
                    "without it"
                )


def silence(stream: Any) -> None:
    """Redirects a stream to the null device, since the interpreter flushes it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@contextlib.contextmanager
def output_may_fail() -> Iterator[None]:
    """Inside the block, output that cannot be written (`| head`) is dropped; the work goes on."""
    before, sys.stdout = sys.stdout, _LastingStream(sys.stdout)
    try:
        yield
    finally:
        sys.stdout = before


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """Sends all output inside the block to standard error, also from C++ and other processes.

    For commands that run code of plugins and print a result, such as JSON.
    """
    sys.stdout.flush()
    with contextlib.redirect_stdout(sys.stderr):
        real = os.dup(1)
        os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(real, 1)
            os.close(real)
