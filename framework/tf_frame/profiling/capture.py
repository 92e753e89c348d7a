"""XPlane captures: all threads and devices of this process over time, for the Profile tab.

    capture = Capture(model_dir, label="step_100", task="worker_0")
    capture.start()
    with step_marker(100):
        session.run(train_op)
    path = capture.save()

`tf.profiler.experimental` ignores its options, lets a capture replace another capture of the same
second, and cannot start any more after some failed starts (`process_profiler`).
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
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from tf_frame import file_system
from tf_frame.atomic_output import atomic_output
from tf_frame.errors import short_reason
from tf_frame.profiling.process_profiler import (
    CaptureError,
    Profiler,
    start_profiler,
    stop_profiler,
)
from tf_frame.profiling.profile_folders import XPLANE
from tf_frame.profiling.step_profile import SUFFIX

_LOG = logging.getLogger("tf_frame")
# Files up to this size are failures: 4 bytes without events, 0 for more than 2 GB.
_EMPTY_BYTES = 8


@contextlib.contextmanager
def warn_only(
    subject: str, failed: str = "was not written", *, report: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Reports a failure of the profiler, or of writing a file, and lets training go on.

    Args:
      subject: subject of the warning, such as `the Chrome trace of step 100`.
      failed: predicate of the warning.
      report: takes the warning; None: the log of tf-frame.
    """
    try:
        yield
    except (CaptureError, tf.errors.OpError, OSError) as error:
        text = f"{subject} {failed}: {short_reason(error)}; training goes on"
        if report is None:
            _LOG.warning("%s", text)
        else:
            report(f"warning: {text}")


def step_marker(step: int) -> Any:
    """Returns a context that marks the begin and the end of a step for the Profile tab."""
    # `_r` marks a root event; without it the Profile tab finds no steps.
    return tf.profiler.experimental.Trace("train", step_num=step, _r=1)


class Capture:
    """Records this process, one capture at a time.

    TensorFlow names captures by the second and the host, so a capture may replace another one.
    Therefore it is written into a temporary folder, and copied to a unique name.

    Args:
      model_dir: TensorBoard's folder; the file is
        `plugins/profile/<time>_<label>/<host>_<task>.xplane.pb` in it.
      label: name of the run on the Profile tab, after the time.
      task: task of this process in the job, such as `worker_0`.
      host_tracer_level: 1: no operations; 2: all but cheap operations; 3: all.
      python_tracer_level: 1: calls of Python functions, too.
      device_tracer_level: 1: GPUs, too.
    """

    def __init__(
        self,
        model_dir: str,
        *,
        label: str,
        task: str,
        host_tracer_level: int = 2,
        python_tracer_level: int = 0,
        device_tracer_level: int = 1,
    ) -> None:
        self._model_dir, self._label, self._task = model_dir, label, task
        self._levels = {
            "host_tracer_level": host_tracer_level,
            "python_tracer_level": python_tracer_level,
            "device_tracer_level": device_tracer_level,
        }
        self._profiler: Profiler | None = None
        self._folder = ""

    def start(self, *, wait_secs: float = 0.0) -> None:
        """Begins to record; waits up to `wait_secs` for another capture to end.

        Raises:
          CaptureError: another capture of this process is active, or the folder of the capture or
            of temporary files cannot be written.
        """
        try:
            runs = os.path.join(self._model_dir, "plugins", "profile")
            tf.io.gfile.makedirs(runs)
            file_system.write_probe(runs)
            self._folder = tempfile.mkdtemp(prefix="tf-frame-profile-")
            self._profiler = start_profiler(
                self._folder, self._label, wait_secs=wait_secs, **self._levels
            )
        except (tf.errors.OpError, OSError) as error:
            raise CaptureError(short_reason(error)) from error
        finally:
            if self._profiler is None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def save(self, *, began: float | None = None) -> str:
        """Ends the capture and writes it.

        Args:
          began: time in the name of the run, seconds since 1970, equal in all tasks; None: now.

        Returns:
          The path of the file.

        Raises:
          CaptureError: nothing was recorded, or the file cannot be written.
        """
        try:
            written = self._stop()
            free = unused_path(self._model_dir, label=self._label, task=self._task, began=began)
            path = free + XPLANE
            tf.io.gfile.makedirs(os.path.dirname(path))
            with atomic_output(path) as temporary:
                tf.io.gfile.copy(written, temporary, overwrite=True)
            return path
        except (tf.errors.OpError, OSError) as error:
            raise CaptureError(short_reason(error)) from error
        finally:
            self._profiler = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def _stop(self) -> str:
        """Ends the capture; returns TensorFlow's file in the temporary folder."""
        if self._profiler is None:
            raise CaptureError("the capture was not started")
        stop_profiler(self._profiler)
        written = glob.glob(os.path.join(self._folder, "plugins", "profile", "*", "*.xplane.pb"))
        if len(written) != 1 or os.path.getsize(written[0]) <= _EMPTY_BYTES:
            raise CaptureError("the profiler recorded nothing, or more than the 2 GB it can write")
        return written[0]


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
