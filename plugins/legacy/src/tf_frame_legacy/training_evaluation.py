"""Evaluation under the names of tf.contrib.training, for scripts of TensorFlow 1.

    from tf_frame_legacy import training  # was: tf.contrib.training

    training.evaluate_repeatedly(
        checkpoint_dir, eval_ops=update_ops, final_ops=values,
        hooks=[training.StopAfterNEvalsHook(100), training.SummaryAtEndHook(logdir)])

Arguments, defaults and log messages are the same as in tf_slim/training/evaluation.py and
tensorflow/python/training/evaluation.py. Differences: damaged checkpoints are skipped, no
checkpoint is evaluated twice, lists and dictionaries of the caller are not changed, and
`eval_step` is also initialised if a scaffold has its own `local_init_op`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find import newest
from tf_frame.hooks.summary import cached_writer

# From this number of evaluations on, only each tenth of them is logged.
_LOG_TENTHS_FROM = 20


def get_or_create_eval_step() -> Any:
    """Returns the local int64 variable `eval_step`, which counts the batches of an evaluation.

    Raises:
      ValueError: the graph has several such variables.
    """
    eval_steps = tf.get_collection(tf.GraphKeys.EVAL_STEP)
    if len(eval_steps) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if eval_steps:
        return eval_steps[0]
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
      ValueError: neither a folder nor a writer.
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
        if self._summary_writer is None and self._log_dir is not None:
            self._summary_writer = cached_writer(self._log_dir)

    def end(self, session: Any) -> None:
        if self._summary_op is not None:
            step = tf.train.global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            self._summary_writer.add_summary(summary, step)
        self._summary_writer.flush()


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits for a new checkpoint in a folder; returns its path, None after a timeout.

    Args:
      checkpoint_dir: the folder.
      last_checkpoint: the previous checkpoint; None for the first one.
      seconds_to_sleep: time between two looks at the folder.
      timeout: maximum number of seconds to wait; None: no limit.
    """
    tf.logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    path = newest.wait_for_new_checkpoint(
        checkpoint_dir, last_checkpoint, seconds_to_sleep, timeout
    )
    if path is not None:
        tf.logging.info("Found new checkpoint at %s", path)
    return path


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields the newest checkpoint of a folder whenever there is a new one.

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: minimum time between checkpoints.
      timeout: maximum number of seconds to wait for a new one; None: no limit.
      timeout_fn: called after a timeout; returns whether to end. None: end.
    """
    tf.logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    for path in newest.checkpoints_iterator(checkpoint_dir, min_interval_secs, timeout, timeout_fn):
        tf.logging.info("Found new checkpoint at %s", path)
        yield path
        tf.logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    if timeout_fn is None:
        tf.logging.info("Timed-out waiting for a checkpoint.")


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    hooks: Iterable[Any] | None = None,
    config: Any = None,
) -> Any:
    """Evaluates the default graph with the values of one checkpoint.

    Args:
      checkpoint_path: path prefix of the checkpoint.
      master: address of the server to run on.
      scaffold: a `tf.compat.v1.train.Scaffold`.
      eval_ops: tensor, list or dictionary of ops to run until a hook such as
        `StopAfterNEvalsHook` requests a stop, or the input ends; None: no ops.
      feed_dict: feeds of `eval_ops`.
      final_ops: ops to run once at the end.
      final_ops_feed_dict: feeds of `final_ops`.
      hooks: session hooks.
      config: a `tf.compat.v1.ConfigProto`.

    Returns:
      The values of `final_ops`; None without them.
    """
    evaluation = _Evaluation(scaffold, eval_ops, feed_dict, hooks, master, config)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    started = time.monotonic()
    evaluation.run(checkpoint_path, final)
    tf.logging.info("Inference Time : %.5fs", time.monotonic() - started)
    return final.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    eval_interval_secs: float = 60,
    hooks: Iterable[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates the default graph with the values of each new checkpoint of a folder.

    Args:
      checkpoint_dir: the folder.
      master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config: see
        `evaluate_once`.
      eval_interval_secs: minimum time between evaluations.
      max_number_of_evaluations: maximum number of evaluations; None: no limit.
      timeout, timeout_fn: see `checkpoints_iterator`.

    Returns:
      The values of `final_ops` in the last evaluation; None without them.
    """
    evaluation = _Evaluation(scaffold, eval_ops, feed_dict, hooks, master, config)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, path in enumerate(paths, 1):
        evaluation.run(path, final)
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final.final_ops_values


class _Evaluation:
    """The evaluations of one graph; arguments as of `evaluate_once`."""

    def __init__(
        self,
        scaffold: Any,
        eval_ops: Any,
        feed_dict: Mapping[Any, Any] | None,
        hooks: Iterable[Any] | None,
        master: str,
        config: Any,
    ) -> None:
        step = get_or_create_eval_step()
        self._hooks = list(hooks or ())
        self._eval_ops = None if eval_ops is None else _count_runs(eval_ops, step, self._hooks)
        self._feed_dict = feed_dict
        self._scaffold = _initialising(scaffold, step)
        self._where = {"master": master, "config": config}

    def run(self, checkpoint_path: str, final: Any) -> None:
        tf.logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
        creator = tf.train.ChiefSessionCreator(
            self._scaffold, checkpoint_filename_with_path=checkpoint_path, **self._where
        )
        with tf.train.MonitoredSession(creator, hooks=[*self._hooks, final]) as session:
            while self._eval_ops is not None and not session.should_stop():
                session.run(self._eval_ops, self._feed_dict)
        tf.logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))


def _count_runs(eval_ops: Any, step: Any, hooks: Iterable[Any]) -> Any:
    """Adds the op that counts to the ops of an evaluation, and passes the count to the hooks."""
    update = tf.assign_add(step, 1, use_locking=True)
    with tf.control_dependencies([*tf.nest.flatten(eval_ops), update]):
        counted = tf.identity(step.read_value())
    for hook in hooks:
        if hasattr(hook, "_set_evals_completed_tensor"):
            hook._set_evals_completed_tensor(counted)
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": update}
    listed = eval_ops if isinstance(eval_ops, (list, tuple)) else [eval_ops]
    return [*listed, update]


def _initialising(scaffold: Any, step: Any) -> Any:
    """Returns a scaffold with a local init op, if any, that also initialises the eval step."""
    if scaffold is None or scaffold.local_init_op is None:
        return scaffold
    op = tf.group(scaffold.local_init_op, step.initializer)
    return tf.train.Scaffold(local_init_op=op, copy_from_scaffold=scaffold)
