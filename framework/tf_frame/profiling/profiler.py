"""TensorFlow's profiler of this process, with options that work and without leftovers."""

from __future__ import annotations

import weakref
from typing import Any

import tensorflow as tf

# `start` leaves the profiler behind when it loses against a capture that the
# profiler's server makes, and then every later `start` fails. Only the modules
# themselves can tell a leftover from a profiler at work, and remove it.
from tensorflow.python.profiler import profiler_v2
from tensorflow.python.profiler.internal import _pywrap_profiler


class _Integer:
    """An integer that is not taken for a bool.

    TensorFlow 2.21 converts an option to bool first and drops it when that
    succeeds, as it does for int; `tf.profiler.experimental.ProfilerOptions` is
    without effect. It asks this for its `__index__`.
    """

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


class _Options:
    """Options in the only way in which `tf.profiler.experimental.start` reads them."""

    def __init__(self, **values: int) -> None:
        self._values = values

    def _asdict(self) -> dict[str, _Integer]:
        return {name: _Integer(value) for name, value in self._values.items()}


def start_profiler(
    logdir: str,
    *,
    host_tracer_level: int = 2,
    python_tracer_level: int = 0,
    device_tracer_level: int = 1,
) -> Any:
    """Starts the profiler, of which a process has one.

    Args:
      logdir: where `tf.profiler.experimental.stop` will write.
      host_tracer_level: 1: no operations; 2: all but those found to be cheap; 3: all.
      python_tracer_level: 1: calls of Python functions as well.
      device_tracer_level: 1: GPUs as well.

    Returns:
      Which profiler it is, for `is_running`.

    Raises:
      tf.errors.AlreadyExistsError: another profiler is at work in this process.
    """
    _remove_leftover()
    options = _Options(
        host_tracer_level=host_tracer_level,
        python_tracer_level=python_tracer_level,
        device_tracer_level=device_tracer_level,
    )
    try:
        tf.profiler.experimental.start(logdir, options)
    except tf.errors.AlreadyExistsError as error:
        # Raised in answer to another error: `start` had put its own profiler down already.
        if error.__context__ is not None:
            profiler_v2._profiler = None
        raise
    # `stop(save=False)` ends a capture only when nobody holds the profiler any more.
    return weakref.ref(profiler_v2._profiler)


def is_running(profiler: Any) -> bool:
    """Whether a profiler that was started has not been stopped, by whomsoever."""
    started = None if profiler is None else profiler()
    return started is not None and profiler_v2._profiler is started


def _remove_leftover() -> None:
    """Forgets a profiler that somebody started in vain."""
    with profiler_v2._profiler_lock:
        if profiler_v2._profiler is not None and not _someone_profiles():
            profiler_v2._profiler = None


def _someone_profiles() -> bool:
    probe = _pywrap_profiler.ProfilerSession()
    try:
        probe.start("", {})
    except tf.errors.AlreadyExistsError:
        return True
    probe.stop()
    return False
