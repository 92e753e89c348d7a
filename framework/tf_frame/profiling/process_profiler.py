"""The profiler of this process, which serves one capture at a time.

    profiler = start_profiler(folder, "step_100", host_tracer_level=2)
    stop_profiler(profiler)        # writes plugins/profile/<time>/<host>.xplane.pb in the folder

Any error of the profiler is a `CaptureError`. If the profiler is in use already, the error names
the user: a capture of this process, a script that called `tf.profiler.experimental.start`, or
TensorBoard's button "Capture profile".
"""

from __future__ import annotations

import time
import types
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

# If the profiler's server makes a capture, `start` fails and leaves its profiler behind; then every
# later `start` fails. Only these modules can distinguish a leftover from an active profiler, and
# remove it.
from tensorflow.python.profiler import profiler_v2
from tensorflow.python.profiler.internal import _pywrap_profiler

from tf_frame.errors import TfFrameError, short_reason


class CaptureError(TfFrameError):
    """The profiler could not start, stop, or write."""


class BusyError(CaptureError):
    """Another capture of this process is active."""


class Profiler(NamedTuple):
    """A profiler that was started.

    Attributes:
      name: name of its capture.
      began: seconds since 1970.
      reference: weak reference, because `tf.profiler.experimental.stop(save=False)` ends a capture
        only when its profiler has no reference any more.
    """

    name: str
    began: float
    reference: Any


_newest: Profiler | None = None
_RETRY_SECS = 0.005


class _Integer:
    """An integer that cannot be converted to a bool.

    TensorFlow 2.21 drops an option that it can convert to bool, such as an int, so that
    `tf.profiler.experimental.ProfilerOptions` has no effect. It reads this class by `__index__`.
    """

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


def start_profiler(logdir: str, name: str, *, wait_secs: float = 0.0, **levels: int) -> Profiler:
    """Starts the profiler.

    Args:
      logdir: folder for the file of `stop_profiler`.
      name: name of the capture, for the errors of other starts.
      wait_secs: longest time to wait for another capture to end. The server of a task makes one for
        every step with run metadata that another task runs on it.
      **levels: tracer levels, as in `tf.profiler.experimental.ProfilerOptions`.

    Raises:
      BusyError: another capture is active in this process.
      CaptureError: the profiler failed.
    """
    until = time.monotonic() + wait_secs
    while True:
        try:
            return _start(logdir, name, levels)
        except BusyError:
            if time.monotonic() >= until:
                raise
        time.sleep(_RETRY_SECS)


def _start(logdir: str, name: str, levels: Mapping[str, int]) -> Profiler:
    global _newest
    with profiler_v2._profiler_lock:
        if profiler_v2._profiler is not None and not is_any_profiler_active():
            profiler_v2._profiler = None  # A failed start left it.
    # TensorFlow reads options by `_asdict`.
    options = types.SimpleNamespace(_asdict=lambda: {k: _Integer(v) for k, v in levels.items()})
    try:
        tf.profiler.experimental.start(logdir, options)
    except tf.errors.AlreadyExistsError as error:
        # With a context, `start` failed after it registered its profiler.
        if error.__context__ is not None:
            profiler_v2._profiler = None
        raise BusyError(
            f"{_holder()}; a process makes one capture at a time, so try again after it"
        ) from error
    except Exception as error:  # Of any class: the profiler must not end a training.
        raise CaptureError(f"the profiler did not start: {short_reason(error)}") from error
    _newest = Profiler(name, time.time(), weakref.ref(profiler_v2._profiler))
    return _newest


def stop_profiler(profiler: Profiler) -> None:
    """Stops the profiler, which writes its capture.

    Raises:
      CaptureError: other code stopped it, or it failed.
    """
    if not is_running(profiler):
        raise CaptureError("the profiler was not running; someone else stopped it")
    try:
        tf.profiler.experimental.stop()
    except Exception as error:  # Of any class: the profiler must not end a training.
        raise CaptureError(f"the profiler did not write: {short_reason(error)}") from error


def is_running(profiler: Profiler | None) -> bool:
    """Returns whether a profiler was started and has not been stopped since."""
    started = None if profiler is None else profiler.reference()
    return started is not None and profiler_v2._profiler is started


def is_any_profiler_active() -> bool:
    """Returns whether a capture of this process is active."""
    probe = _pywrap_profiler.ProfilerSession()
    try:
        probe.start("", {})
    except tf.errors.AlreadyExistsError:
        return True
    probe.stop()
    return False


def _holder() -> str:
    """Names the holder of the profiler."""
    if _newest is not None and is_running(_newest):
        since = time.strftime("%H:%M:%S", time.localtime(_newest.began))
        return f"the capture {_newest.name} of this process has been active since {since}"
    if profiler_v2._profiler is not None:
        return "a call of tf.profiler.experimental.start in this process has not been stopped yet"
    return "a profiler server is capturing this process, for TensorBoard's button or another client"
