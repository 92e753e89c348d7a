"""`TimelineHook`: Chrome traces of single steps, as slim's trainers write them.

A trace shows when each operation of a step ran on which device (`--trace_every_n_steps`).
"""

from __future__ import annotations

import dataclasses
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


@dataclasses.dataclass(eq=False)
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

    logdir: str
    _: dataclasses.KW_ONLY
    every_steps: int | None = None
    at_steps: Sequence[int] = ()
    memory: bool = False
    writer: Any = None

    def __post_init__(self) -> None:
        if not self.logdir:
            raise ConfigError(
                f"timelines are written into a folder, and logdir is {self.logdir!r}; name one"
            )
        super().__init__(Cadence(every_steps=self.every_steps, at_steps=self.at_steps))

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._options = run_options(session.sess_str)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(None, options=self._options)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        path = os.path.join(self.logdir, f"tf_trace-{step}.json")
        with warn_only(path):
            trace = chrome_trace(run_values.run_metadata, dataflow=True, memory=self.memory)
            write_trace(path, trace)
            _LOG.info("Writing trace to %s", path)
        if self.writer is not None:
            with warn_only(f"the run metadata of step {step}"):
                # slim gives no step to the event.
                add_run_metadata(self.writer, run_values.run_metadata, f"run_metadata-{step}")
