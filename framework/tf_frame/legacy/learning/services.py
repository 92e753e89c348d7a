"""What the chief of `learning.train` does by the clock: checkpoints and summaries."""

from __future__ import annotations

import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.legacy.learning.finite import FiniteModel


class Services:
    """Saves and summarises between the steps of one session.

    TensorFlow's supervisor has threads for that, beside the steps. Then half of
    a checkpoint may be from before a step, what was found finite may be so no
    longer when it is written, and the threads fail in programs that have not
    called `tf.disable_v2_behavior()`. Texts and tags are those of the threads
    (TensorFlow, training/supervisor.py).

    Args:
      supervisor: whose saver, writer and folder are used.
      model: what is looked at before it is saved.
      save_interval_secs: from one checkpoint to the next; 0 or None for none.
      save_summaries_secs: likewise for summaries and steps per second.
    """

    def __init__(
        self,
        supervisor: Any,
        model: FiniteModel,
        *,
        save_interval_secs: float | None,
        save_summaries_secs: float | None,
    ) -> None:
        self._supervisor = supervisor
        self._model = model
        self._save_timer = _Timer(save_interval_secs)
        self._summary_timer = _Timer(save_summaries_secs if supervisor.summary_writer else None)
        self._counted: tuple[float, int] | None = None

    def run_due(self, session: Any) -> None:
        """Does what is due; before the first step that is a checkpoint and a summary.

        Raises:
          NonFiniteError: the model must not be saved.
        """
        now = time.monotonic()
        if self._summary_timer.is_due(now):
            self._count(session, now)
            self._summarize(session)
        if self._save_timer.is_due(now):
            tf.logging.info("Saving checkpoint to path %s", self._supervisor.save_path)
            step = self.save(session)
            self._note_checkpoint(step)

    def save(self, session: Any) -> int:
        """Saves `model.ckpt-<global step>`, and returns the step.

        Raises:
          NonFiniteError: the model must not be saved.
        """
        step = self._step(session)
        self._model.before_save(session, step)
        supervisor = self._supervisor
        supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
        return step

    def _note_checkpoint(self, step: int) -> None:
        if self._supervisor.summary_writer:
            path = self._supervisor.save_path
            log = tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path=path)
            self._supervisor.summary_writer.add_session_log(log, step)

    def _summarize(self, session: Any) -> None:
        supervisor = self._supervisor
        if supervisor.summary_op is None:
            return
        summary, step = session.run([supervisor.summary_op, supervisor.global_step])
        tf.logging.info("Recording summary at step %s.", step)
        supervisor.summary_writer.add_summary(summary, step)

    def _count(self, session: Any, now: float) -> None:
        """Writes the steps per second since the last time; notes where to begin, at first."""
        step = self._step(session)
        if self._counted is not None:
            last_time, last_step = self._counted
            rate = (step - last_step) / (now - last_time)
            tag = f"{self._supervisor.global_step.op.name}/sec"
            summary = tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=rate)])
            self._supervisor.summary_writer.add_summary(summary, step)
            tf.logging.info("%s: %g", tag, rate)
        self._counted = now, step

    def _step(self, session: Any) -> int:
        return int(tf.train.global_step(session, self._supervisor.global_step))


class _Timer:
    """Due at once, and then every so many seconds; never for 0 or None."""

    def __init__(self, every_secs: float | None) -> None:
        self._every_secs = every_secs
        self._next_time = -float("inf")

    def is_due(self, now: float) -> bool:
        if not self._every_secs or now < self._next_time:
            return False
        self._next_time = now + self._every_secs
        return True
