"""What goes wrong in profiling is said, and training goes on."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError, reason_of

_LOG = logging.getLogger("tf_frame")


class CaptureError(TfFrameError):
    """The profiler could not begin, end, or write."""


@contextlib.contextmanager
def only_warns(what: str) -> Iterator[None]:
    """Logs a failure of the profiler or of a file with its reason, and goes on.

    Args:
      what: what is missing then, such as `the Chrome trace of step 100`.
    """
    try:
        yield
    except (CaptureError, tf.errors.OpError, OSError) as error:
        _LOG.warning("%s was not written: %s; training goes on", what, reason_of(error))
