"""Turns TensorFlow errors that a user can remedy, such as a full disk, into `TfFrameError`s.

The user then reads the cause and what to do, in place of TensorFlow's traceback.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError, NonFiniteError, TfFrameError, is_disk_full, reason_of

# The operation that failed, as a session error names it: one that reads the input or decodes an
# image. `error.op` is not set for operations in functions.
_FAILED_READ = re.compile(r"\[\[\S*(IteratorGetNext|Decode(Png|Jpeg|Image|Raw|CSV))\S*\]\]")


@contextlib.contextmanager
def translated_errors(model_dir: str) -> Iterator[None]:
    """Turns a full disk and unreadable data, wherever they surface, into errors for the user.

    TensorFlow's event writer reports a full disk by a RuntimeError, after its thread has
    printed a traceback, which is suppressed here.

    Args:
      model_dir: the folder that the run writes to.
    """
    before, threading.excepthook = threading.excepthook, _without_event_writers
    try:
        yield
    except (OSError, RuntimeError, tf.errors.OpError) as error:
        translated = _translated(error, model_dir)
        if translated is None:
            raise
        raise translated from error
    finally:
        threading.excepthook = before


def _translated(error: Exception, model_dir: str) -> TfFrameError | None:
    reason = reason_of(error)
    if is_disk_full(error):
        return TfFrameError(
            f"a file of {model_dir} could not be written: {reason}\nfree space and run the same "
            "command again: training goes on from the last checkpoint"
        )
    if _FAILED_READ.search(str(error)):
        return DataError(f"the data cannot be read: {reason}")
    if isinstance(error, tf.errors.InvalidArgumentError) and " is not finite : " in str(error):
        return NonFiniteError(
            f"{reason.replace(' : ', ': ')}; the step was not applied; lower --learning_rate, or "
            "clip the gradients"
        )
    return TfFrameError(reason) if isinstance(error, OSError) and error.filename else None


def _without_event_writers(failure: Any) -> None:
    if failure.thread is None or failure.thread.name != "EventLoggerThread":
        threading.__excepthook__(failure)
