"""`TimelineHook`: Chrome traces of single steps, as slim's trainers write them.

A trace shows when each operation of a step ran on which device (`--trace_every_n_steps`).
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
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")


class TimelineHook(Hook):
    """Writes `tf_trace-<step>.json` every N steps, at given steps, or both.

    Names and tags are those of `train_step` in tf_slim/learning.py. An error in
    writing a file is logged; training goes on.

    Args:
      logdir: folder of the files.
      every_steps: steps between traces; the first trace is of the first step of a session.
      at_steps: global steps to trace.
      memory: show the lifetimes and bytes of tensors.
      writer: summary writer for the run metadata, `run_metadata-<step>` on
        TensorBoard's graphs page, or None.

    Raises:
      ConfigError: there is no `logdir`.
    """

    phase = Phase.OBSERVE
    option = "--trace_every_n_steps"

    def __init__(
        self,
        logdir: str,
        *,
        every_steps: int | None = None,
        at_steps: Sequence[int] = (),
        memory: bool = False,
        writer: Any = None,
    ) -> None:
        if not logdir:
            raise ConfigError(
                f"timelines are written into a folder, and logdir is {logdir!r}; name one"
            )
        super().__init__(Cadence(every_steps=every_steps, at_steps=at_steps))
        self._logdir = logdir
        self._drawn = {"dataflow": True, "memory": memory}
        self._writer = writer

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._options = run_options(session.sess_str)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(None, options=self._options)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        path = os.path.join(self._logdir, f"tf_trace-{step}.json")
        with warn_only(path):
            write_trace(path, chrome_trace(run_values.run_metadata, **self._drawn))
            _LOG.info("Writing trace to %s", path)
        if self._writer is not None:
            with warn_only(f"the run metadata of step {step}"):
                # slim gives no step to the event.
                add_run_metadata(self._writer, run_values.run_metadata, f"run_metadata-{step}")
