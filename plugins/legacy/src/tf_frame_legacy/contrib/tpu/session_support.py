"""Hooks that look after the workers of a TPU; there are none, so nothing is done.

The original did nothing either for a session whose devices send no heartbeat.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


class GracefulShutdownHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Would save and call functions before a worker of a TPU is shut down.

    Args:
      checkpoint_prefix, saver, on_shutdown_hooks: without effect.
    """

    def __init__(
        self, checkpoint_prefix: str, saver: Any = None, on_shutdown_hooks: Any = None
    ) -> None:
        del checkpoint_prefix, saver, on_shutdown_hooks


class ShutdownLameWorkers:
    """Would shut down the workers of a TPU that are to be replaced."""

    def __init__(self, timeout_ms: int = 60_000) -> None:
        del timeout_ms

    def __call__(self, run_context: Any) -> None:
        del run_context


class ShutdownAllWorkers(ShutdownLameWorkers):
    """Would shut down all workers of a TPU."""


class RestartComputation(ShutdownLameWorkers):
    """Would shut down all workers of a TPU and begin again."""


ResetComputation = RestartComputation


def start_worker_watchdog(
    session: Any, devices: Any = None, ping_interval: int = 60, shutdown_timeout: int = 3600
) -> None:
    """Would end the process if a worker of a TPU does not answer."""
    del session, devices, ping_interval, shutdown_timeout
