"""Keeps TensorFlow's start-up chatter off the screen unless it is asked for."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator

# --verbosity -> (level of TensorFlow's C++ log, level of its Python log)
_LEVELS = {
    "none": ("3", logging.CRITICAL),
    "warning": ("1", logging.WARNING),
    "info": ("0", logging.INFO),
    "debug": ("0", logging.DEBUG),
}

# Lines of TensorFlow's C++ log: "I0000 00:00:1795.05 3713 port.cc:153] ..." before it is set
# up, "2026-01-31 12:00:00.000000: I tensorflow/..." after; and its note about the former.
_LOG_LINE = re.compile(
    r"[IWEF]\d{4} [\d:.]+ +\d+ \S+\] |\d{4}-\d\d-\d\d [\d:.]+: [IWE] |"
    r"WARNING: All log messages before absl::InitializeLog|INFO: Created TensorFlow Lite "
)


def quiet_tensorflow(verbosity: str | None) -> None:
    """Sets how much TensorFlow says; must run before it is imported.

    What it hides are notes on CUDA stubs, oneDNN and deprecations. Errors are
    Python exceptions as well, and those are never hidden. A level that the user
    set in the environment stays.

    Args:
      verbosity: value of `--verbosity`; None or an unknown one counts as `none`.
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

    Those come before its log level counts. Anything else that is written to
    standard error within is passed on at the end.

    Args:
      verbosity: value of `--verbosity`; other than `none`, nothing is dropped.
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
            _pass_on(caught.read().decode(errors="replace"))


def _pass_on(text: str) -> None:
    kept = [line for line in text.splitlines(keepends=True) if not _LOG_LINE.match(line)]
    sys.stderr.write("".join(kept))
