"""Logs the loss and other scalars every N steps."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples

_LOG = logging.getLogger("tf_frame")


class LoggingHook(Hook):
    """Writes `step 20: loss = 0.4871, learning_rate = 0.05` to the log.

    The steps are those of the progress lines: the multiples of `every_steps`,
    wherever a session begins, and the last step.

    Args:
      tensors: name -> scalar tensor.
      every_steps: steps between lines.
      last_step: global step at which training ends, logged too; None if unknown.

    Raises:
      ValueError: `every_steps` is not positive.
    """

    phase = Phase.LOG

    def __init__(
        self, tensors: Mapping[str, Any], *, every_steps: int, last_step: int | None = None
    ) -> None:
        if every_steps <= 0:
            raise ValueError(f"every_steps is {every_steps}; it must be positive")
        super().__init__(Multiples(every_steps, last_step=last_step))
        self._tensors = dict(tensors)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._tensors)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        write_in_background(_log, step, run_values.results)

    def end(self, session: Any) -> None:
        self.close()

    def close(self) -> None:
        """Waits until all lines are written."""
        wait_for_background_writer()


def _log(step: int, values: Mapping[str, Any]) -> None:
    text = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
    _LOG.info("step %d: %s", step, text)
