"""Writes the merged summaries every so many steps, and the graph once."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Cadence, Hook, Phase


class SummaryHook(Hook):
    """Evaluates the summary op beside the steps that it wants.

    Args:
      model_dir: where the event file goes.
      summary_op: scalar string tensor.
      every_steps: steps from one summary to the next.
    """

    phase = Phase.OBSERVE

    def __init__(self, model_dir: str, summary_op: Any, *, every_steps: int) -> None:
        self._model_dir = model_dir
        self._summary_op = summary_op
        self._cadence = Cadence(every_steps=every_steps)

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        self._step = step_after_run()
        # Whoever asks for the writer first also has it write the default graph.
        self._writer = tf.summary.FileWriterCache.get(self._model_dir)

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._last = int(session.run(self._global_step))
        # TensorBoard drops events at or after this step: a killed run left those behind.
        start = tf.SessionLog(status=tf.SessionLog.START)
        self._writer.add_session_log(start, self._last + 1)

    def before_run(self, run_context: Any) -> Any:
        self._wanted = self._cadence.wants(self._last + 1)
        fetches = [self._step, self._summary_op] if self._wanted else [self._step]
        return tf.train.SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._last = int(run_values.results[0])
        if self._wanted:
            self._writer.add_summary(run_values.results[1], self._last)
            self._cadence.mark(self._last)

    def end(self, session: Any) -> None:
        self._writer.flush()
