"""Sets the log level of TensorFlow, and hides the log lines of its import.

TensorFlow's libraries write many lines while they are imported; the output of a command would be
lost among these lines. Code that imports TensorFlow within a function writes:

    with quiet_import():
        import tensorflow as tf

The command line calls `quiet_first_import` for all other imports, such as that of a plugin.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.util
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

from tf_frame.collector import without_collector

# --verbosity -> (level of TensorFlow's C++ log, level of its Python log)
_LEVELS = {
    "none": ("3", logging.CRITICAL),
    "warning": ("1", logging.WARNING),
    "info": ("0", logging.INFO),
    "debug": ("0", logging.DEBUG),
}
_LOGGER = "tensorflow"
# Lines of TensorFlow's C++ log: "I0000 00:00:1795.05 3713 port.cc:153] ..." before the log is
# initialised, "2026-01-31 12:00:00.000000: I tensorflow/..." later, and the note on the former.
_LOG_LINE = re.compile(
    r"[IWEF]\d{4} [\d:.]+ +\d+ \S+\] |\d{4}-\d\d-\d\d [\d:.]+: [IWE] |"
    r"WARNING: All log messages before absl::InitializeLog|INFO: Created TensorFlow Lite |"
    r"To enable the following instructions: "
)


def set_log_level(verbosity: str | None) -> None:
    """Sets the log level of TensorFlow; must be called before TensorFlow is imported.

    Level `none` hides notes on CUDA stubs, oneDNN and deprecations. Errors are also Python
    exceptions, which are never hidden. A level that the user set in the environment is kept.

    Args:
      verbosity: value of `--verbosity`; None or an unknown value counts as `none`.
    """
    cpp, python = _LEVELS.get(verbosity or "none", _LEVELS["none"])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", cpp)
    logging.getLogger(_LOGGER).setLevel(python)
    if verbosity in (None, "none"):
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)


def shows_debug() -> bool:
    """Returns whether the last `set_log_level` of this process was for `--verbosity debug`."""
    return logging.getLogger(_LOGGER).level == logging.DEBUG


@contextlib.contextmanager
def quiet_import(verbosity: str | None = None) -> Iterator[None]:
    """Drops the log lines that TensorFlow's libraries write while they are imported in the block.

    Also sets the log level, which has no effect on these lines. All other text on standard error
    is written at the end of the block.

    Args:
      verbosity: value of `--verbosity`. Lines are dropped for `none` and None only.
    """
    set_log_level(verbosity)
    if verbosity not in (None, "none"):
        yield
        return
    sys.stderr.flush()
    with tempfile.TemporaryFile() as caught:
        stderr = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            caught.seek(0)
            lines = caught.read().decode(errors="replace").splitlines(keepends=True)
            text = "".join(line for line in lines if not _LOG_LINE.match(line))
            with contextlib.suppress(OSError):  # There is no other place for the text.
                os.write(2, text.encode())


class _QuietFinder(importlib.abc.MetaPathFinder):
    """Lets the first import of TensorFlow, wherever it stands, run in `quiet_import`.

    It also makes garbage collections cheaper, which took a tenth of the time to build a graph.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the spec of TensorFlow with an import that is quiet; None for other modules."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_quietly(module: Any) -> None:
                with quiet_import(_verbosity()), without_collector():
                    execute(module)
                    # Half a million objects that stay: no collection looks at them, not even
                    # the one that follows at once when the collector goes on.
                    gc.freeze()

            spec.loader.exec_module = execute_quietly  # type: ignore[method-assign]
        return spec


def _verbosity() -> str | None:
    """Returns the `--verbosity` of the last `set_log_level`; None without one."""
    level = logging.getLogger(_LOGGER).level
    return next((name for name, levels in _LEVELS.items() if levels[1] == level), None)


def quiet_first_import() -> None:
    """Drops the log lines of the first import of TensorFlow in this process, as `quiet_import`."""
    is_done = "tensorflow" in sys.modules
    if not is_done and not any(isinstance(finder, _QuietFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _QuietFinder())


@contextlib.contextmanager
def log_level(name: str, level: int) -> Iterator[None]:
    """Sets the level of a logger inside the block, such as `logging.ERROR`.

    Args:
      name: name of the logger.
      level: the level, such as `logging.ERROR`.
    """
    logger = logging.getLogger(name)
    level_before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(level_before)
