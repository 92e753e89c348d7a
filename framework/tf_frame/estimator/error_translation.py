"""Errors of TensorFlow that are the user's to mend, in our words."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError, NonFiniteError, TfFrameError, reason_of

_FULL = "No space left on device"
# How a session error names the operation that failed: one that takes data from the input, or
# that decodes a picture. `error.op` is not set where it stands in a function.
_FAILED_READ = re.compile(r"\[\[\S*(IteratorGetNext|Decode(Png|Jpeg|Image|Raw|CSV))\S*\]\]")


@contextlib.contextmanager
def translated_errors(model_dir: str) -> Iterator[None]:
    """Turns a full disk and unreadable data, wherever they surface, into errors of ours.

    TensorFlow's event writer reports a full disk by a RuntimeError, after its
    thread has printed a traceback of its own; that one is left out.

    Args:
      model_dir: the folder that the run writes to.
    """
    before, threading.excepthook = threading.excepthook, _without_event_writers
    try:
        yield
    except (OSError, RuntimeError, tf.errors.OpError) as error:
        explained = _explain(error, model_dir)
        if explained is None:
            raise
        raise explained from error
    finally:
        threading.excepthook = before


def _explain(error: Exception, model_dir: str) -> TfFrameError | None:
    if _FULL in str(error):
        return TfFrameError(
            f"the disk of {model_dir} is full ({_FULL}); free space and run the same command "
            "again: what was trained goes on from the last checkpoint"
        )
    if _FAILED_READ.search(str(error)):
        return DataError(f"the data cannot be read: {reason_of(error)}")
    if isinstance(error, tf.errors.InvalidArgumentError) and " is not finite : " in str(error):
        reason = reason_of(error).replace(" : ", ": ")
        return NonFiniteError(
            f"{reason}; the step was not applied; lower --learning_rate, or clip the gradients"
        )
    if isinstance(error, OSError) and error.filename:
        return TfFrameError(f"{error.filename}: {error.strerror}")
    return None


def _without_event_writers(failure: Any) -> None:
    if failure.thread is None or failure.thread.name != "EventLoggerThread":
        threading.__excepthook__(failure)
