"""`LoggingHook`: logs loss and learning rate of a run (`--log_every_n_steps`)."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.metrics_log import TRAIN, MetricsLog
from tf_frame.hooks.training_clock import training_clock
from tf_frame.types import Session, Tensor

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(eq=False)
class LoggingHook(Hook):
    """Writes `step 20: loss = 0.4871, learning_rate = 0.05` to the log.

    The steps are the multiples of `every_steps` and the last step, as for the progress lines.

    Args:
      tensors: name -> scalar tensor.
      every_steps: steps between lines.
      last_step: global step at which training ends; None if unknown.
      metrics: also receives the values, with the steps per second since the previous line.
      option: the run option that makes the hook.
    """

    phase = Phase.LOG
    tensors: Mapping[str, Tensor]
    _: dataclasses.KW_ONLY
    every_steps: int
    last_step: int | None = None
    metrics: MetricsLog | None = None
    option: str = "--log_every_n_steps"

    def __post_init__(self) -> None:
        super().__init__(Multiples(self.every_steps, last_step=self.last_step))

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._since: tuple[int, float] | None = None

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(dict(self.tensors))

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        write_in_background(_log, step, run_values.results)
        before, now = self._since, (step, training_clock())
        self._since = now
        if self.metrics is not None:
            rate = None if before is None else (step - before[0]) / max(now[1] - before[1], 1e-9)
            self.metrics.write(TRAIN, step, {**run_values.results, "steps_per_sec": rate})

    def close(self) -> None:
        wait_for_background_writer()


def _log(step: int, values: Mapping[str, Any]) -> None:
    text = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
    _LOG.info("step %d: %s", step, text)
