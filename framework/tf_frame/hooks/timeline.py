"""Chrome traces of single steps, as slim's trainers and TensorFlow's `ProfilerHook` write them.

A trace shows when each operation of a step ran on which device. `TimelineHook` is behind
`--trace_every_n_steps`, `ProfilerHook` is for scripts that use TensorFlow's.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.profiling.capture import warn_only
from tf_frame.profiling.run_metadata import add_run_metadata, chrome_trace, run_options, write_trace

_LOG = logging.getLogger("tf_frame")


class TimelineHook(Hook):
    """Writes `tf_trace-<step>.json` every N steps, at given steps, or both.

    Names and tags are those of `train_step` in tf_slim/learning.py. An error in
    writing a file is logged; training goes on.

    Args:
      logdir: folder of the files.
      every_steps: steps between traces, beginning with the first step of a session.
      at_steps: global steps to trace.
      gzip: write `tf_trace-<step>.json.gz`, which ui.perfetto.dev can open too.
      memory: show the lifetimes and bytes of tensors.
      dataflow: show dependencies between operations.
      writer: summary writer for the run metadata, `run_metadata-<step>` on
        TensorBoard's graphs page, or None.

    Raises:
      ConfigError: there is no `logdir`.
    """

    phase = Phase.OBSERVE

    def __init__(
        self,
        logdir: str,
        *,
        every_steps: int | None = None,
        at_steps: Sequence[int] = (),
        gzip: bool = False,
        memory: bool = False,
        dataflow: bool = True,
        writer: Any = None,
    ) -> None:
        if not logdir:
            raise ConfigError(
                f"timelines are written into a folder, and logdir is {logdir!r}; name one"
            )
        super().__init__(Cadence(every_steps=every_steps, at_steps=at_steps))
        self._logdir = logdir
        self._suffix = ".json.gz" if gzip else ".json"
        self._drawn = {"dataflow": dataflow, "memory": memory}
        self._writer = writer

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self._options = run_options(session.sess_str)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(None, options=self._options)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        path = os.path.join(self._logdir, f"tf_trace-{step}{self._suffix}")
        with warn_only(path):
            write_trace(path, chrome_trace(run_values.run_metadata, **self._drawn))
            _LOG.info("Writing trace to %s", path)
        if self._writer is not None:
            with warn_only(f"the run metadata of step {step}"):
                # slim gives no step to the event.
                add_run_metadata(self._writer, run_values.run_metadata, f"run_metadata-{step}")


class ProfilerHook(Hook):
    """Writes `timeline-<step>.json`, and run metadata `step_<step>`, by steps or by seconds.

    Arguments, files, tags and steps are those of the hook in
    tensorflow/python/training/basic_session_run_hooks.py. It never traces the first
    run of a session. Steps count from the begin of the session, seconds from the end
    of the first run. Unlike TensorFlow's hook it needs no session call of its own,
    does not fail while another profiler is running, and logs an error in writing a
    file while training goes on.

    Args:
      save_steps: steps between traces.
      save_secs: seconds between traces; give one of the two.
      output_dir: folder of the files; empty: the current folder.
      show_dataflow: show dependencies between operations.
      show_memory: show the lifetimes and bytes of tensors.

    Raises:
      ValueError: both of `save_steps` and `save_secs`, or neither.
    """

    phase = Phase.OBSERVE

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        # The timer raises the errors of TensorFlow's hook.
        tf.train.SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        # Seconds count from the first run, so the hook wants the first run.
        super().__init__(
            Cadence(every_steps=save_steps, every_secs=save_secs, first=save_secs is not None)
        )
        self._output_dir = output_dir
        self._drawn = {"dataflow": show_dataflow, "memory": show_memory}

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use ProfilerHook.")

    def start(self, session: Any, step: int) -> None:
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
        path = os.path.join(self._output_dir, f"timeline-{step}.json")
        _LOG.info("Saving timeline for %d into '%s'.", step, path)
        with warn_only(path):
            write_trace(path, chrome_trace(run_values.run_metadata, **self._drawn))
        with warn_only(f"the run metadata of step {step}"), self._graph.as_default():
            # The first caller that gets the writer makes it write the default graph.
            writer = tf.summary.FileWriterCache.get(self._output_dir)
            add_run_metadata(writer, run_values.run_metadata, f"step_{step}")
            writer.flush()
