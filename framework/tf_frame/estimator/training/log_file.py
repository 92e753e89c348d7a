"""`train.log`: what a run logged, also where the screen shows a bar."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator

_LOG = logging.getLogger("tf_frame")


class _LogFile(logging.FileHandler):
    """A log file that never ends a run.

    On a full disk the checkpoint or summary that cannot be written is the
    error to report; a lost log line must not hide it.
    """

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


@contextlib.contextmanager
def log_file(model_dir: str) -> Iterator[None]:
    """Appends the log of tf-frame within to `MODEL_DIR/train.log`."""
    handler = _LogFile(os.path.join(model_dir, "train.log"), encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level = _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.setLevel(level)
        _LOG.removeHandler(handler)
        handler.close()
