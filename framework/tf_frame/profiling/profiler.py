"""The TensorFlow profiler of this process, with options that take effect and no leftovers."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

# `start` leaves its profiler behind when the profiler's server is making a capture, and then
# every later `start` fails. Only these modules can tell a leftover from an active profiler,
# and remove it.
from tensorflow.python.profiler import profiler_v2
from tensorflow.python.profiler.internal import _pywrap_profiler


class _Integer:
    """An integer that cannot be converted to a bool.

    TensorFlow 2.21 first converts an option to bool, which succeeds for an int, and then
    drops the option; so `tf.profiler.experimental.ProfilerOptions` has no effect. It reads
    an object of this class by `__index__`.
    """

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


class _Options:
    """Options in the only form that `tf.profiler.experimental.start` reads."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = values

    def _asdict(self) -> dict[str, _Integer]:
        return {name: _Integer(value) for name, value in self._values.items()}


def start_profiler(logdir: str, **levels: int) -> Any:
    """Starts the profiler; a process has only one.

    Args:
      logdir: where `tf.profiler.experimental.stop` will write.
      **levels: tracer levels, as of `tf.profiler.experimental.ProfilerOptions`.

    Returns:
      An identification of this profiler, for `is_running`.

    Raises:
      tf.errors.AlreadyExistsError: another profiler is active in this process.
    """
    _remove_leftover()
    try:
        tf.profiler.experimental.start(logdir, _Options(levels))
    except tf.errors.AlreadyExistsError as error:
        # Raised while another error is handled: `start` had registered its own profiler already.
        if error.__context__ is not None:
            profiler_v2._profiler = None
        raise
    # `stop(save=False)` ends a capture only when nobody holds the profiler any more.
    return weakref.ref(profiler_v2._profiler)


def is_running(profiler: Any) -> bool:
    """Returns whether a profiler was started and has not been stopped since."""
    started = None if profiler is None else profiler()
    return started is not None and profiler_v2._profiler is started


def _remove_leftover() -> None:
    """Removes a profiler whose `start` failed."""
    with profiler_v2._profiler_lock:
        if profiler_v2._profiler is not None and not _is_any_active():
            profiler_v2._profiler = None


def _is_any_active() -> bool:
    probe = _pywrap_profiler.ProfilerSession()
    try:
        probe.start("", {})
    except tf.errors.AlreadyExistsError:
        return True
    probe.stop()
    return False
