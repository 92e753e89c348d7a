"""Logs the values of tensors every so many steps."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Cadence, Hook, Phase

_LOG = logging.getLogger("tf_frame")


class LoggingHook(Hook):
    """Writes `step 20: loss = 0.4871, learning_rate = 0.05` to the log.

    Args:
      tensors: name -> scalar tensor.
      every_steps: steps from one line to the next.
    """

    phase = Phase.LOG

    def __init__(self, tensors: Mapping[str, Any], *, every_steps: int) -> None:
        self._tensors = dict(tensors)
        self._cadence = Cadence(every_steps=every_steps)

    def begin(self) -> None:
        self._step = step_after_run()
        self._last: int | None = None

    def before_run(self, run_context: Any) -> Any:
        self._wanted = self._last is None or self._cadence.wants(self._last + 1)
        fetches = {"step": self._step, "values": self._tensors if self._wanted else {}}
        return tf.train.SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._last = int(run_values.results["step"])
        if self._wanted:
            values = run_values.results["values"].items()
            text = ", ".join(f"{name} = {value:.6g}" for name, value in values)
            _LOG.info("step %d: %s", self._last, text)
            self._cadence.mark(self._last)
