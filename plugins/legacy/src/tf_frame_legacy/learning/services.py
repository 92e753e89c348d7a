"""Writes the checkpoints and summaries of `learning.train` on the chief, at time intervals."""

from __future__ import annotations

import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import FiniteCheck


class Services:
    """Saves and summarises between the steps of one session.

    TensorFlow's supervisor saves in threads, while steps run. Half of a checkpoint may then be from
    before a step, variables may become NaN between the check and the save, and the threads fail in
    programs without `tf.disable_v2_behavior()`. Messages and tags are the same as in the threads
    (TensorFlow, training/supervisor.py).

    Args:
      supervisor: has the saver, the writer and the folder.
      finite_check: checks the variables before they are saved.
      save_interval_secs: seconds between checkpoints; 0 or None: no checkpoints.
      save_summaries_secs: seconds between summaries and reports of steps per second; 0
        or None: no summaries.
    """

    def __init__(
        self,
        supervisor: Any,
        finite_check: FiniteCheck,
        *,
        save_interval_secs: float | None,
        save_summaries_secs: float | None,
    ) -> None:
        self._supervisor = supervisor
        self._finite_check = finite_check
        self._save_timer = _Timer(save_interval_secs)
        self._summary_timer = _Timer(save_summaries_secs if supervisor.summary_writer else None)
        self._counted: tuple[float, int] | None = None

    def run_due(self, session: Any) -> None:
        """Writes a checkpoint and a summary if they are due; both are due before the first step.

        Raises:
          NonFiniteError: a variable to be saved is not finite.
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
        """Saves `model.ckpt-<global step>`; returns the step.

        Raises:
          NonFiniteError: a variable to be saved is not finite.
        """
        step = self._step(session)
        self._finite_check.check(session.run(self._finite_check.fetch), step)
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
        """Writes the steps per second since the previous call, if there was one."""
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
    """Due at the first call, then at time intervals; never for 0 or None."""

    def __init__(self, every_secs: float | None) -> None:
        self._every_secs = every_secs
        self._next_time = -float("inf")

    def is_due(self, now: float) -> bool:
        if not self._every_secs or now < self._next_time:
            return False
        self._next_time = now + self._every_secs
        return True
