"""`ProfileAtStepHook` for detection trainers of TensorFlow 1, which writes a trace of one step.

Defects of the old hook are corrected: files are written to `checkpoint_dir` instead of
the current folder, and by TensorFlow's file systems; if several workers skip the step,
the next one is traced; the event file is shared with the other hooks, and flushed.
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.summary import cached_writer
from tf_frame.profiling.capture import warn_only
from tf_frame.profiling.run_metadata import (
    add_run_metadata,
    chrome_trace,
    run_options,
    write_trace,
)


class ProfileAtStepHook(Hook):
    """Traces the step after `at_step`, as the old hook did.

    The trace has the number of the global step after it, `at_step + 1`: in the tag
    `trace_<step>` of the run metadata on TensorBoard's graphs page, and in the Chrome
    trace `timeline-<step>.json`. A session that begins after that step is not traced.

    Args:
      at_step: the global step before the trace; None: no trace.
      checkpoint_dir: folder for the event file and the Chrome trace.
      trace_level: trace level of `RunOptions`; None: suitable for the session. In a
        session in this process, FULL_TRACE fails the step if another profiler is active.

    Raises:
      ValueError: there is a step, but no folder.
    """

    phase = Phase.OBSERVE

    def __init__(
        self,
        at_step: int | None = None,
        checkpoint_dir: str | None = None,
        trace_level: int | None = None,
    ) -> None:
        if at_step is not None and not checkpoint_dir:
            raise ValueError(f"checkpoint_dir is {checkpoint_dir!r}; the trace needs a folder")
        super().__init__(Cadence(at_steps=() if at_step is None else [at_step + 1]))
        self._folder = checkpoint_dir or ""
        self._trace_level = trace_level

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use ProfileAtStepHook.")

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self._graph = session.graph
        self._options = run_options(session.sess_str)
        if self._trace_level is not None:
            self._options = tf.RunOptions(trace_level=self._trace_level)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(None, options=self._options)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        path = os.path.join(self._folder, f"timeline-{step}.json")
        with warn_only(path):
            write_trace(path, chrome_trace(run_values.run_metadata))
        with warn_only(f"the run metadata of step {step}"), self._graph.as_default():
            writer = cached_writer(self._folder)
            add_run_metadata(writer, run_values.run_metadata, f"trace_{step}", step)
            writer.flush()
