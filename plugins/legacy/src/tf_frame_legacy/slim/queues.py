"""slim's `queues`: a context manager that runs the threads of input queues in a `tf.Session`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

# Time for a thread of a queue to end after a stop request (tf_slim, queues.py).
_STOP_GRACE_PERIOD_SECS = 120

_running = threading.Lock()


class NestedQueueRunnerError(Exception):
    """A block of `QueueRunners` is inside another one."""


@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Starts the queue runners of the default graph, and stops them at the end of the block.

    If a thread does not end within two minutes, or fails, the session is closed.

    Args:
      session: the session of the queue runners.

    Raises:
      NestedQueueRunnerError: another such block is active in this process.
    """
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator = tf.train.Coordinator()
        threads = _start(session, coordinator)
        try:
            yield
        finally:
            _stop(session, coordinator, threads)
    finally:
        _running.release()


def _start(session: Any, coordinator: Any) -> list[threading.Thread]:
    runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    return [
        thread
        for runner in runners
        for thread in runner.create_threads(session, coord=coordinator, daemon=True, start=True)
    ]


def _stop(session: Any, coordinator: Any, threads: list[threading.Thread]) -> None:
    coordinator.request_stop()
    try:
        coordinator.join(threads, stop_grace_period_secs=_STOP_GRACE_PERIOD_SECS)
    except RuntimeError:
        # A thread still waits for its queue; closing the session ends the wait.
        session.close()
