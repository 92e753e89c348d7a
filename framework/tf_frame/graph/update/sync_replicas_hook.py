"""`SyncReplicasHook`: starts and ends the updates of synchronous training."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

_LOOK_SECS, _WATCH_SECS = 0.1, 1.0


class SyncReplicasHook(tf.train.SessionRunHook):
    """Starts and ends the updates on the chief; makes other workers wait for the chief.

    Args:
      replicas: the `SyncReplicas`.
      is_chief: whether this worker makes the updates.
      is_over: called every second on the chief: whether another worker has ended. Then no update
        gets a gradient of each worker any more.
    """

    def __init__(
        self, replicas: Any, *, is_chief: bool, is_over: Callable[[], object] = lambda: False
    ) -> None:
        self._replicas = replicas
        self._is_chief = is_chief
        self._is_over = is_over

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._session, self._is_closed = session, False
        if self._is_chief:
            self._replicas.begin_epoch(session)
            self._replicas.join(session)
            self._start(self._make_updates, session, coord)
            self._start(self._watch, session, coord)
            return
        while not self._replicas.has_begun(session):
            if coord.wait_for_stop(_LOOK_SECS):
                return
        self._replicas.join(session)

    def end_updates(self) -> None:
        """Ends the workers that wait for a token; the chief calls it after its last step."""
        self._is_closed = True
        # A lost parameter server has no queue to close.
        with contextlib.suppress(tf.errors.OpError):
            self._replicas.close(self._session)

    def end(self, session: Any) -> None:
        if self._is_chief:
            self.end_updates()

    def _start(self, target: Callable[[Any, Any], None], *args: Any) -> None:
        # A coordinator would wait for its threads, and this thread may wait for gradients.
        threading.Thread(target=target, args=args, name="sync_replicas", daemon=True).start()

    def _make_updates(self, session: Any, coord: Any) -> None:
        try:
            while not coord.should_stop():
                self._replicas.update(session)
        except Exception as error:
            # After a stop, the closed session or queue ends the update by an error.
            if coord.should_stop() or self._is_closed:
                return
            if isinstance(error, tf.errors.CancelledError):
                # A lost server may cancel the call; see `JobMember.check_error`.
                error = tf.errors.AbortedError(None, None, error.message)
            coord.request_stop(error)
            lost = isinstance(error, (tf.errors.AbortedError, tf.errors.UnavailableError))
            # The session itself waits for a token; closed queues would stay closed for the next
            # session.
            with contextlib.suppress(tf.errors.OpError, RuntimeError):
                (self._replicas.free if lost else self._replicas.close)(session)

    def _watch(self, session: Any, coord: Any) -> None:
        # The session may be lost meanwhile, which the main thread notices as well.
        with contextlib.suppress(tf.errors.OpError, RuntimeError):
            while not coord.wait_for_stop(_WATCH_SECS):
                if self._is_over():
                    self.end_updates()
                    return
