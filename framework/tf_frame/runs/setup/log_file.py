"""`log_file`: writes the log of tf-frame to `train.log` in the folder of a run."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator

import tensorflow.compat.v1 as tf

from tf_frame.file_system import is_remote, make_subfolder
from tf_frame.tensorflow_log import log_level
from tf_frame.text import printable

_LOG = logging.getLogger("tf_frame")
_LOG_FILE = "train.log"
# An object store writes the whole file at each flush.
_REMOTE_FLUSH_SECS = 30.0


class _Formatter(logging.Formatter):
    """Writes control characters as escapes: names in the data steer no terminal that shows them."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n\t")


class _LogFile(logging.FileHandler):
    """A log file that ignores errors: on a full disk, the failed checkpoint is to be reported."""

    def __init__(self, path: str) -> None:
        super().__init__(path, encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


class _RemoteLogFile(logging.Handler):
    """A log file on a remote file system; it ignores errors, too."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._file = tf.io.gfile.GFile(path, "a")
        self._flushed = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        with contextlib.suppress(tf.errors.OpError):
            self._file.write(self.format(record) + "\n")
            if now - self._flushed > _REMOTE_FLUSH_SECS:
                self._flushed = now
                self._file.flush()

    def close(self) -> None:
        super().close()
        with contextlib.suppress(tf.errors.OpError):
            self._file.close()


@contextlib.contextmanager
def log_file(model_dir: str, *, task: str | None = None) -> Iterator[None]:
    """Appends the log of tf-frame to `train.log` inside the block.

    Args:
      model_dir: the folder of the run.
      task: name of a task other than the chief, with the log `logs/TASK-train.log`.
    """
    path = os.path.join(model_dir, _LOG_FILE)
    if task is not None:
        path = os.path.join(make_subfolder(model_dir, "logs"), f"{task}-train.log")
    handler = _RemoteLogFile(path) if is_remote(path) else _LogFile(path)
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(message)s"))
    _LOG.addHandler(handler)
    try:
        with log_level(_LOG.name, logging.INFO):
            yield
    finally:
        _LOG.removeHandler(handler)
        handler.close()
