"""`SummarySaverHook` of TensorFlow, without its extra session calls."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.summary import event_writer
from tf_frame.types import Session


@dataclasses.dataclass(eq=False)
class SummarySaverHook(Hook):
    """Writes summaries of the first step of a session, and then every N steps or seconds.

    Arguments, errors, tags and steps follow `tf.compat.v1.train.SummarySaverHook`. Without a
    folder and a writer the hook does not run.

    Args:
      save_steps: steps between summaries.
      save_secs: seconds between summaries; give one of the two.
      output_dir: folder of the event file.
      summary_writer: summary writer, instead of a writer for `output_dir`.
      scaffold: scaffold with the `summary_op` to run.
      summary_op: scalar string tensor, or a list of tensors, instead of `scaffold`.

    Raises:
      ValueError: both or none of scaffold and op, or of steps and seconds; a
        number that is not positive.
      RuntimeError: from `begin`: the graph has no global step.
    """

    phase = Phase.OBSERVE

    save_steps: int | None = None
    save_secs: float | None = None
    output_dir: str | None = None
    summary_writer: Any = None
    scaffold: Any = None
    summary_op: Any = None

    def __post_init__(self) -> None:
        if (self.scaffold is None) == (self.summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        # The timer raises the errors of TensorFlow's hook.
        tf.train.SecondOrStepTimer(every_secs=self.save_secs, every_steps=self.save_steps)
        cadence = Cadence(every_steps=self.save_steps, every_secs=self.save_secs)
        super().__init__(cadence if self.output_dir or self.summary_writer is not None else None)

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use SummarySaverHook.")
        if self.summary_writer is None and self.output_dir:
            self.summary_writer = event_writer(self.output_dir)
            self.summary_writer.flush()  # The graph comes first, as with TensorFlow's hook.

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._started = False

    def before_step(self, run_context: Any, step: int) -> Any:
        ops = self.summary_op if self.scaffold is None else self.scaffold.summary_op
        if ops is None:
            return None
        return tf.train.SessionRunArgs(ops if isinstance(ops, list) else [ops])

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if not self._started:
            self._started = True
            self.summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), step)
        for summary in run_values.results or ():
            self.summary_writer.add_summary(summary, step)

    def end(self, session: Session) -> None:
        if self.summary_writer is not None:
            self.summary_writer.flush()
