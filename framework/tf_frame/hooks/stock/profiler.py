"""`ProfilerHook` of TensorFlow: Chrome traces of single steps."""

from __future__ import annotations

import dataclasses
import logging
import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.summary import cached_writer
from tf_frame.profiling.capture import warn_only
from tf_frame.profiling.run_metadata import add_run_metadata, chrome_trace, run_options, write_trace
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(eq=False)
class ProfilerHook(Hook):
    """Writes `timeline-<step>.json`, and run metadata `step_<step>`, by steps or by seconds.

    Arguments, files, tags and steps follow TensorFlow's hook
    (tensorflow/python/training/basic_session_run_hooks.py). The hook never traces the first run of
    a session. Steps count from the begin of the session, seconds from the end of the first run.
    Unlike TensorFlow's hook it makes no extra session call, works while another profiler is
    running, and only logs an error in writing a file.

    Args:
      save_steps: steps between traces.
      save_secs: seconds between traces; give one of the two.
      output_dir: folder of the files; empty: the current folder.
      show_dataflow: show dependencies between operations.
      show_memory: show the lifetimes and bytes of tensors.

    Raises:
      ValueError: both of `save_steps` and `save_secs`, or neither.
      RuntimeError: from `begin`: the graph has no global step.
    """

    phase = Phase.OBSERVE

    save_steps: int | None = None
    save_secs: float | None = None
    output_dir: str = ""
    show_dataflow: bool = True
    show_memory: bool = False

    def __post_init__(self) -> None:
        # The timer raises the errors of TensorFlow's hook.
        tf.train.SecondOrStepTimer(every_secs=self.save_secs, every_steps=self.save_steps)
        # Seconds count from the first run, so the hook wants the first run.
        first = self.save_secs is not None
        super().__init__(
            Cadence(every_steps=self.save_steps, every_secs=self.save_secs, first=first)
        )

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use ProfilerHook.")

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._graph = session.graph
        self._first_run = step + 1
        self._options = run_options(session.sess_str)

    def before_step(self, run_context: Any, step: int) -> Any:
        self._tracing = step > self._first_run
        return tf.train.SessionRunArgs(None, options=self._options) if self._tracing else None

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if not self._tracing:
            return
        path = os.path.join(self.output_dir, f"timeline-{step}.json")
        _LOG.info("Saving timeline for %d into '%s'.", step, path)
        with warn_only(path):
            drawn = {"dataflow": self.show_dataflow, "memory": self.show_memory}
            write_trace(path, chrome_trace(run_values.run_metadata, **drawn))
        with warn_only(f"the run metadata of step {step}"), self._graph.as_default():
            # The first call for a folder writes the default graph.
            writer = cached_writer(self.output_dir)
            add_run_metadata(writer, run_values.run_metadata, f"step_{step}")
            writer.flush()
