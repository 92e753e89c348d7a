"""Terminal output of the commands: flushed lines, bold text, no error in `... | head`.

It also hides the log lines that TensorFlow writes while it is imported, among which the lines
of the command would be lost, unless --verbosity asks for them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

# --verbosity -> (level of TensorFlow's C++ log, level of its Python log)
_LEVELS = {
    "none": ("3", logging.CRITICAL),
    "warning": ("1", logging.WARNING),
    "info": ("0", logging.INFO),
    "debug": ("0", logging.DEBUG),
}

# Lines of TensorFlow's C++ log: "I0000 00:00:1795.05 3713 port.cc:153] ..." before the log is
# initialised, "2026-01-31 12:00:00.000000: I tensorflow/..." later, and its note on the former.
_LOG_LINE = re.compile(
    r"[IWEF]\d{4} [\d:.]+ +\d+ \S+\] |\d{4}-\d\d-\d\d [\d:.]+: [IWE] |"
    r"WARNING: All log messages before absl::InitializeLog|INFO: Created TensorFlow Lite "
)


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
    """Inside the block, output to a closed pipe (`| head`) is dropped, and the work goes on."""
    before, sys.stdout = sys.stdout, _PipeStream(sys.stdout)
    try:
        yield
    finally:
        sys.stdout = before


def quiet_tensorflow(verbosity: str | None) -> None:
    """Sets the log level of TensorFlow; must be called before TensorFlow is imported.

    Level `none` hides notes on CUDA stubs, oneDNN and deprecations. Errors are also
    Python exceptions, which are never hidden. A level that the user set in the
    environment is kept.

    Args:
      verbosity: value of `--verbosity`; None or an unknown value counts as `none`.
    """
    cpp, python = _LEVELS.get(verbosity or "none", _LEVELS["none"])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", cpp)
    logging.getLogger("tensorflow").setLevel(python)
    if verbosity in (None, "none"):
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)


@contextlib.contextmanager
def without_chatter(verbosity: str | None) -> Iterator[None]:
    """Drops the log lines that TensorFlow's libraries write while they are imported.

    The log level has no effect on these lines. All other text on standard error is
    written at the end.

    Args:
      verbosity: value of `--verbosity`; for any other value than `none`, nothing is dropped.
    """
    if verbosity not in (None, "none"):
        yield
        return
    sys.stderr.flush()
    with tempfile.TemporaryFile() as caught:
        real = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(real, 2)
            os.close(real)
            caught.seek(0)
            lines = caught.read().decode(errors="replace").splitlines(keepends=True)
            sys.stderr.write("".join(line for line in lines if not _LOG_LINE.match(line)))
