"""Turns TensorFlow errors that a user can remedy, such as a full disk, into `TfFrameError`s.

The user reads the cause and the remedy instead of TensorFlow's traceback.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import (
    DataError,
    NonFiniteError,
    TfFrameError,
    is_disk_full,
    names_file,
    short_reason,
)
from tf_frame.plugin.fault import find_fault
from tf_frame.plugin.frames import find_python_error, find_python_place
from tf_frame.plugin.origin import owner_suffix

# Text of a session error about an operation that reads the input or decodes an image. The attribute
# `error.op` is not set for operations in functions.
_FAILED_READ = re.compile(r"\[\[[^]]*(IteratorGetNext|Decode(Png|Jpeg|Image|Raw|CSV))[^]]*\]\]")

# Without --model_dir the same command would make a new folder.
_GOES_ON = "; training goes on from the last checkpoint with the --model_dir of the run"

# An error of tf-frame from Python code of an input.
_USER_ERROR = re.compile(r"tf_frame\.errors\.\w+: (.*)")


@contextlib.contextmanager
def translated_errors(
    model_dir: str, source: Any = None, *, resumes: bool = False
) -> Iterator[None]:
    """Turns errors about a full disk and unreadable data into errors for the user.

    Leaves errors in the code of plugins unchanged. TensorFlow's event writer raises a RuntimeError
    for a full disk, after its thread has printed a traceback, which is suppressed here.

    Args:
      model_dir: the folder that the run writes to.
      source: the input.
      resumes: whether the block is a training, which goes on from its last checkpoint.
    """
    before, threading.excepthook = threading.excepthook, _without_event_writers
    try:
        yield
    except (OSError, RuntimeError, tf.errors.OpError) as error:
        translated = _translated(error, model_dir, owner_suffix(source), _GOES_ON * resumes)
        if translated is None:
            raise
        raise translated from error
    finally:
        threading.excepthook = before


def _translated(
    error: Exception, model_dir: str, of_input: str, goes_on: str
) -> TfFrameError | None:
    reason = short_reason(error)
    if is_disk_full(error) and not (isinstance(error, OSError) and find_fault(error)):
        return TfFrameError(
            f"a file of {model_dir} could not be written: {reason}\nfree space{goes_on}"
        )
    if _FAILED_READ.search(str(error)):
        return _data_error(error, of_input)
    if isinstance(error, tf.errors.InvalidArgumentError) and " is not finite : " in str(error):
        return NonFiniteError(
            f"{reason.replace(' : ', ': ')}; the step was not applied; lower --learning_rate, or "
            "clip the gradients"
        )
    if isinstance(error, tf.errors.ResourceExhaustedError) and "OOM when allocating" in reason:
        return TfFrameError(
            f"there is not enough memory: {reason}; lower --train_batch_size, --eval_batch_size "
            f"where no training runs, or the size of the examples{goes_on}"
        )
    return TfFrameError(reason) if names_file(error) and not find_fault(error) else None


def _data_error(error: Exception, of_input: str) -> DataError | None:
    """Returns the error for unreadable data; None if code of the input raised another error."""
    raised = find_python_error(error)
    user_error = _USER_ERROR.match(raised)
    if user_error:
        return DataError(user_error[1])
    if raised and find_fault(error):
        return None
    place = find_python_place(error)
    reason = f"{raised or short_reason(error)}{place and f' ({place})'}"
    return DataError(f"the data{of_input} cannot be read: {reason}")


def _without_event_writers(failure: Any) -> None:
    if failure.thread is None or failure.thread.name != "EventLoggerThread":
        threading.__excepthook__(failure)
