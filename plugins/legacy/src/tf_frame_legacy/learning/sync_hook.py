"""Starts and ends the updates of `tf.train.SyncReplicasOptimizer`, which scripts for slim make.

With TensorFlow's own hook the end of each training takes two minutes, and several workers wait for
ever. `--sync_replicas` has an optimizer of its own, `graph.update.sync_replicas`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError


class SyncReplicasHook(tf.train.SessionRunHook):
    """Starts the updates on the chief, and ends them.

    With TensorFlow's `make_session_run_hook` the coordinator waits for the thread of the
    updates, which waits for gradients: the end of each training would take two minutes
    (`stop_grace_period_secs`).

    When the chief stops, the queue of tokens is closed. Workers that wait for a token get
    `tf.errors.OutOfRangeError`, as at the end of the input.

    Args:
      optimizer: a `tf.train.SyncReplicasOptimizer`.
      is_chief: whether this worker makes the updates.
      num_tokens: tokens in the queue before the first update.

    Raises:
      TfFrameError: a variable of the session has no value yet.
    """

    def __init__(self, optimizer: Any, *, is_chief: bool, num_tokens: int) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        self._runner = self._optimizer.get_chief_queue_runner()
        if self._is_chief:
            self._init = self._optimizer.chief_init_op
            self._tokens = self._optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._init = self._optimizer.local_step_init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        missing = session.run(self._optimizer.ready_for_local_init_op)
        if len(missing):
            raise TfFrameError(
                "synchronous training begins once every variable has a value; without one are "
                + ", ".join(name.decode() for name in missing)
            )
        session.run(self._init)
        if not self._is_chief:
            return
        session.run(self._tokens)
        start_updates(self._runner, session, coord)


def start_updates(runner: Any, session: Any, coord: Any) -> threading.Thread:
    """Starts the updates of the chief; returns the thread that ends them after a stop.

    The coordinator waits for this thread only. The thread of the updates ends with the session.

    Args:
      runner: queue runner of a `tf.train.SyncReplicasOptimizer`.
      session: the session of the chief.
      coord: a `tf.train.Coordinator`.
    """
    closing = _start(_close_queue, runner, session, coord)
    coord.register_thread(closing)
    _start(_make_updates, runner, session, coord)
    return closing


def _start(target: Callable[..., None], *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, name="sync_replicas", daemon=True)
    thread.start()
    return thread


def _make_updates(runner: Any, session: Any, coord: Any) -> None:
    try:
        while not coord.should_stop():
            session.run(runner.enqueue_ops)
    except Exception as error:
        # After a stop, the closed session ends the wait for gradients by an error.
        if not coord.should_stop():
            coord.request_stop(error)


def _close_queue(runner: Any, session: Any, coord: Any) -> None:
    coord.wait_for_stop()
    # A lost parameter server has no queue to close.
    with contextlib.suppress(tf.errors.OpError):
        session.run(runner.cancel_op)
