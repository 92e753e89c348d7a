"""`StepCounterHook` of TensorFlow: logs global steps per second."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.summary import event_writer
from tf_frame.hooks.throughput import write_scalars
from tf_frame.types import Session

_UNMOVED = (
    "It seems that global step (tf.train.get_global_step) has not been increased. Current value "
    "(could be stable): %s vs previous value: %s. You could increase the global step by passing "
    "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize."
)


@dataclasses.dataclass(eq=False)
class StepCounterHook(Hook):
    """Logs global steps per second, and writes them as the summary `global_step/sec`.

    Arguments, errors, lines and tags follow `tf.compat.v1.train.StepCounterHook`. The rates leave
    out the first step of each session.

    Args:
      every_n_steps: steps between rates.
      every_n_secs: seconds between rates; give one of the two, the other None.
      output_dir: folder of the summary; None: no summary.
      summary_writer: summary writer, instead of a writer for `output_dir`.

    Raises:
      ValueError: both or none of steps and seconds; a number that is not positive.
      RuntimeError: from `begin`: the graph has no global step.
    """

    phase = Phase.LOG
    option = "--log_every_n_steps"

    every_n_steps: int | None = 100
    every_n_secs: float | None = None
    output_dir: str | None = None
    summary_writer: Any = None

    def __post_init__(self) -> None:
        if (self.every_n_steps is None) == (self.every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        super().__init__(Cadence(every_steps=self.every_n_steps, every_secs=self.every_n_secs))

    def begin(self) -> None:
        global_step = tf.train.get_global_step()
        if global_step is None:
            raise RuntimeError("Global step should be created to use StepCounterHook.")
        self._name = global_step.op.name
        if self.summary_writer is None and self.output_dir:
            self.summary_writer = event_writer(self.output_dir)
            self.summary_writer.flush()  # The graph comes first, as with TensorFlow's hook.

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._since: tuple[int, float] | None = None
        self._asked_at: int | None = None

    def before_step(self, run_context: Any, step: int) -> Any:
        if step == self._asked_at:
            tf.logging.log_first_n(tf.logging.WARN, _UNMOVED, 5, step - 1, step - 1)
        self._asked_at = step

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        now = time.monotonic()
        if self._since is not None:
            since_step, since_time = self._since
            steps_per_sec = (step - since_step) / max(now - since_time, 1e-9)
            write_scalars(self.summary_writer, self._name, {"sec": steps_per_sec}, step)
            tf.logging.info("%s/sec: %g", self._name, steps_per_sec)
        self._since = step, now
