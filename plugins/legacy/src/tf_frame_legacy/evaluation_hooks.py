"""The eval step and the evaluation hooks of tf.contrib.training, for scripts that use them.

The eval step is the variable that counts the batches of an evaluation. Names, messages and log
messages are those of tensorflow/python/training/evaluation.py and
tf_slim/training/evaluation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

# From this number of evaluations on, each tenth of them is logged instead of each one.
_LOG_TENTHS_FROM = 20


def get_or_create_eval_step() -> Any:
    """Returns the local int64 variable `eval_step`, which counts the batches of an evaluation.

    Raises:
      ValueError: the graph has several such variables.
    """
    found = tf.get_collection(tf.GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return tf.get_variable(
        "eval_step",
        shape=[],
        dtype=tf.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(tf.train.SessionRunHook):
    """Ends an evaluation after a number of runs, in `evaluate_once` and `evaluate_repeatedly`.

    Args:
      num_evals: number of runs; None: until the input ends.
      log_progress: whether to log `Evaluation [3/10]`.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._evals_completed: Any = None
        self._log_progress = log_progress
        few = num_evals is None or num_evals < _LOG_TENTHS_FROM
        self._log_frequency = 1 if few or num_evals is None else num_evals // 10

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        # TensorFlow's evaluation calls its hooks by this name, and so accepts this hook too.
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        done = run_values.results["evals_completed"]
        if self._log_progress:
            self._log(done)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()

    def _log(self, done: int) -> None:
        if self._num_evals is None:
            tf.logging.info("Evaluation [%d]", done)
        elif done % self._log_frequency == 0 or done == self._num_evals:
            tf.logging.info("Evaluation [%d/%d]", done, self._num_evals)


class SummaryAtEndHook(tf.train.SessionRunHook):
    """Writes summaries at the end of an evaluation.

    Args:
      log_dir: folder for events, unless there is a writer.
      summary_writer: a `tf.compat.v1.summary.FileWriter`.
      summary_op: summaries to write; None: all summaries of the graph.
      feed_dict: feeds of `summary_op`.

    Raises:
      ValueError: neither a folder nor a writer was given.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._merges = summary_op is None
        self._merged_in: Any = None
        self._feed_dict = feed_dict
        self._global_step: Any = None

    def begin(self) -> None:
        graph = tf.get_default_graph()
        # Once per graph, because merging adds an operation.
        if self._merges and self._merged_in is not graph:
            self._summary_op, self._merged_in = tf.summary.merge_all(), graph
        self._global_step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        if self._summary_op is not None:
            step = tf.train.global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            self._summary_writer.add_summary(summary, step)
        self._summary_writer.flush()
