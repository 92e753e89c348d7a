"""XPlane captures: all threads and devices of this process over time, for the Profile tab.

capture = Capture()
capture.start()
with step_marker(100):
    session.run(train_op)
path = capture.save(model_dir, label="step_100", task="worker_0")

`tf.profiler.experimental` alone ignores its options, lets a capture replace another one of the
same second, and cannot start any more after some failed starts.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import logging
import os
import shutil
import socket
import tempfile
import time
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

# `start` leaves its profiler behind when the profiler's server is making a capture, and then
# every later `start` fails. Only these modules can tell a leftover from an active profiler,
# and remove it.
from tensorflow.python.profiler import profiler_v2
from tensorflow.python.profiler.internal import _pywrap_profiler

from tf_frame.atomic_output import atomic_output
from tf_frame.errors import TfFrameError, reason_of
from tf_frame.profiling.step_profile import SUFFIX

XPLANE = ".xplane.pb"

_LOG = logging.getLogger("tf_frame")
# Files up to this size are failures: 4 bytes without a capture, 0 for more than 2 GB.
_EMPTY_BYTES = 8


class CaptureError(TfFrameError):
    """The profiler could not start, stop, or write."""


@contextlib.contextmanager
def only_warns(what: str, report: Callable[[str], None] | None = None) -> Iterator[None]:
    """Reports a failure of the profiler, or of writing a file, and lets training go on.

    Args:
      what: what is missing after a failure, such as `the Chrome trace of step 100`.
      report: takes the warning; None: the log of tf-frame.
    """
    try:
        yield
    except (CaptureError, tf.errors.OpError, OSError) as error:
        text = f"{what} was not written: {reason_of(error)}; training goes on"
        if report is None:
            _LOG.warning("%s", text)
        else:
            report(f"warning: {text}")


def step_marker(step: int) -> Any:
    """A context that marks the beginning and the end of a step for the Profile tab.

    Args:
      step: number of the step.
    """
    # `_r` marks a root event; without it the Profile tab finds no steps.
    return tf.profiler.experimental.Trace("train", step_num=step, _r=1)


class Capture:
    """Records this process; a process can make one capture at a time.

    TensorFlow names captures by the second and the host, so that a second one may replace
    the first. Therefore a capture is written into a temporary folder, and copied from there
    to a unique name.

    Args:
      host_tracer_level: 1: no operations; 2: all but those found to be cheap; 3: all.
      python_tracer_level: 1: calls of Python functions as well.
      device_tracer_level: 1: GPUs as well.
    """

    def __init__(
        self,
        *,
        host_tracer_level: int = 2,
        python_tracer_level: int = 0,
        device_tracer_level: int = 1,
    ) -> None:
        self._levels = {
            "host_tracer_level": host_tracer_level,
            "python_tracer_level": python_tracer_level,
            "device_tracer_level": device_tracer_level,
        }
        self._profiler: Any = None
        self._folder = ""

    def start(self) -> None:
        """Begins to record.

        Raises:
          CaptureError: another profiler is active in this process, or no temporary folder
            can be made.
        """
        try:
            self._folder = tempfile.mkdtemp(prefix="tf-frame-profile-")
            self._profiler = start_profiler(self._folder, **self._levels)
        except (tf.errors.OpError, OSError, RuntimeError) as error:
            self._remove_folder()
            raise CaptureError(
                f"the profiler did not start: {str(error).rstrip('.')}. "
                "A process can make one profile at a time"
            ) from error

    def save(self, model_dir: str, *, label: str, task: str, began: float | None = None) -> str:
        """Ends the capture and writes it.

        Args:
          model_dir: TensorBoard's folder; the file is
            `plugins/profile/<time>_<label>/<host>_<task>.xplane.pb` in it.
          label: name of the run on the Profile tab, after the time.
          task: task of the job that this process is, such as `worker_0`.
          began: time in the name of the run, seconds since 1970, which the tasks of a job share;
            None: now.

        Returns:
          The path of the file.

        Raises:
          CaptureError: nothing was recorded, or the file cannot be written.
        """
        try:
            written = self._stop()
            path = unused_path(model_dir, label=label, task=task, began=began) + XPLANE
            tf.io.gfile.makedirs(os.path.dirname(path))
            with atomic_output(path) as temporary:
                tf.io.gfile.copy(written, temporary, overwrite=True)
            return path
        except (tf.errors.OpError, OSError, RuntimeError) as error:
            raise CaptureError(str(error)) from error
        finally:
            self._profiler = None
            self._remove_folder()

    def _stop(self) -> str:
        """Ends the capture; returns TensorFlow's file in the temporary folder."""
        if not is_running(self._profiler):
            raise CaptureError("the profiler was not running; someone else stopped it")
        tf.profiler.experimental.stop()
        written = glob.glob(os.path.join(self._folder, "plugins", "profile", "*", "*.xplane.pb"))
        if len(written) != 1 or os.path.getsize(written[0]) <= _EMPTY_BYTES:
            raise CaptureError("the profiler recorded nothing, or more than the 2 GB it can write")
        return written[0]

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def unused_path(model_dir: str, *, label: str, task: str, began: float | None = None) -> str:
    """Returns a path, without a suffix, for a capture that does not exist yet; see `Capture.save`.

    Tasks of one job may share its folder.
    """
    run = f"{time.strftime('%Y_%m_%d_%H_%M_%S', time.localtime(began))}_{label}"
    name = f"{socket.gethostname()}_{task}"
    folders = (run if number == 1 else f"{run}_{number}" for number in itertools.count(1))
    paths = (os.path.join(model_dir, "plugins", "profile", folder, name) for folder in folders)
    return next(
        path
        for path in paths
        if not any(tf.io.gfile.exists(path + suffix) for suffix in (XPLANE, SUFFIX))
    )


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
    with profiler_v2._profiler_lock:
        if profiler_v2._profiler is not None and not _is_any_active():
            profiler_v2._profiler = None  # Left by a failed start.
    # TensorFlow reads options only by `_asdict`.
    options = types.SimpleNamespace(_asdict=lambda: {k: _Integer(v) for k, v in levels.items()})
    try:
        tf.profiler.experimental.start(logdir, options)
    except tf.errors.AlreadyExistsError as error:
        # With a context, `start` failed after it had registered its profiler.
        if error.__context__ is not None:
            profiler_v2._profiler = None
        raise
    # `stop(save=False)` ends a capture only when nobody holds the profiler any more.
    return weakref.ref(profiler_v2._profiler)


def is_running(profiler: Any) -> bool:
    """Returns whether a profiler was started and has not been stopped since."""
    started = None if profiler is None else profiler()
    return started is not None and profiler_v2._profiler is started


def _is_any_active() -> bool:
    probe = _pywrap_profiler.ProfilerSession()
    try:
        probe.start("", {})
    except tf.errors.AlreadyExistsError:
        return True
    probe.stop()
    return False
