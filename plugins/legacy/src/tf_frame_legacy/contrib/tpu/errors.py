"""`ErrorRendezvous`: collects the errors of threads and raises the one that tells most."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

_LOG = logging.getLogger("tf_frame")
# The loop of a training restarts its session after these.
_HANDLED = (tf.errors.AbortedError, tf.errors.UnavailableError)


class ErrorRendezvous:
    """The errors of a loop and of its threads, by the name of their source.

    Args:
      num_sources: number of sources that report their end.
    """

    def __init__(self, num_sources: int) -> None:
        self._num_sources = num_sources
        self._errors: dict[str, BaseException | None] = {}
        self._changed = threading.Condition()

    def record_error(self, source: str, exc_info: Any, session: Any = None) -> None:
        """Notes an error.

        Args:
          source: where it occurred.
          exc_info: the result of `sys.exc_info()`.
          session: closed, so that other threads end.
        """
        error = exc_info[1]
        if isinstance(error, _HANDLED):
            return
        with self._changed:
            self._errors[source] = error
            self._changed.notify_all()
        _LOG.error("Error recorded from %s: %s", source, error)
        if session is not None:
            session.close()

    def record_done(self, source: str) -> None:
        """Notes the end of a source, which keeps its error."""
        _LOG.info("%s marked as finished", source)
        with self._changed:
            self._errors.setdefault(source, None)
            self._changed.notify_all()

    @contextlib.contextmanager
    def catch_errors(self, source: str, session: Any = None) -> Iterator[None]:
        """Notes an error in the block instead of raising it."""
        try:
            yield
        except Exception:  # `raise_errors` raises it again.
            self.record_error(source, sys.exc_info(), session)

    def raise_errors(self, timeout_sec: float = 0) -> None:
        """Raises the first error, if any; one of a cancelled operation only if there is no other.

        Args:
          timeout_sec: seconds to wait for the sources.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._errors) >= self._num_sources, timeout_sec)
        errors = [error for error in self._errors.values() if error is not None]
        errors.sort(key=lambda error: isinstance(error, tf.errors.CancelledError))
        if errors:
            raise errors[0]
