"""XPlane captures: what all threads and devices of this process did, for the Profile tab.

capture = Capture()
capture.start()
with step_marker(100):
    session.run(train_op)
path = capture.save(model_dir, label="step_100", task="worker_0")
"""

from __future__ import annotations

import glob
import itertools
import os
import shutil
import socket
import tempfile
import time
from typing import Any

import tensorflow as tf

from tf_frame.profiling.failures import CaptureError
from tf_frame.profiling.profiler import is_running, start_profiler
from tf_frame.profiling.whole_file import whole_or_not_there

# A profiler without a capture, and one of more than 2 GB, write files of 4 and of 0 bytes.
_NOTHING_BYTES = 8


def step_marker(step: int) -> Any:
    """A context that tells the Profile tab where a step begins and ends.

    Args:
      step: its number.
    """
    # Without `_r` the Profile tab finds no steps; it marks a root event.
    return tf.profiler.experimental.Trace("train", step_num=step, _r=1)


class Capture:
    """One capture of this process, which can make one at a time.

    TensorFlow names captures by the second and the host, so that a second one
    may replace the first. It is written into a temporary folder here, and from
    there under a name of its own.

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
          CaptureError: another profiler is at work in this process, or there is
            no room for temporary files.
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

    def save(self, model_dir: str, *, label: str, task: str) -> str:
        """Ends the capture and writes it.

        Args:
          model_dir: TensorBoard's folder; the file goes to
            `plugins/profile/<time>_<label>/<host>_<task>.xplane.pb` in it.
          label: what the run is called on the Profile tab, after the time.
          task: which task of the job this process is, such as `worker_0`.

        Returns:
          The path of the file.

        Raises:
          CaptureError: nothing was recorded, or the file cannot be written.
        """
        try:
            return _publish(self._stop(), model_dir, label, task)
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
        if len(written) != 1 or os.path.getsize(written[0]) <= _NOTHING_BYTES:
            raise CaptureError("the profiler recorded nothing, or more than the 2 GB it can write")
        return written[0]

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _publish(written: str, model_dir: str, label: str, task: str) -> str:
    name = f"{socket.gethostname()}_{task}.xplane.pb"
    run = os.path.join(
        model_dir, "plugins", "profile", f"{time.strftime('%Y_%m_%d_%H_%M_%S')}_{label}"
    )
    path = _unused(run, name)
    tf.io.gfile.makedirs(os.path.dirname(path))
    with whole_or_not_there(path) as partial:
        tf.io.gfile.copy(written, partial, overwrite=True)
    return path


def _unused(run: str, name: str) -> str:
    """The path of a file that is not there; tasks of one job may share the folder."""
    candidates = (run if n == 1 else f"{run}_{n}" for n in itertools.count(1))
    return next(
        path
        for path in (os.path.join(folder, name) for folder in candidates)
        if not tf.io.gfile.exists(path)
    )
