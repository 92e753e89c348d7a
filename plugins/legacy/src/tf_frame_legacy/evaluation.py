"""Evaluation under the names of tf_slim's evaluation.py, for scripts for slim.

    from tf_frame_legacy import evaluation  # was: slim.evaluation

    evaluation.evaluation_loop("", checkpoint_dir, logdir, num_evals=100, eval_op=update_ops)

`evaluate_once` has slim's arguments. The function of tf.contrib.training, with the checkpoint as
first argument, is in `tf_frame_legacy.training_evaluation`; the differences are listed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy import training_evaluation
from tf_frame_legacy.training_evaluation import (
    StopAfterNEvalsHook as StopAfterNEvalsHook,
    SummaryAtEndHook as SummaryAtEndHook,
    checkpoints_iterator as checkpoints_iterator,
    evaluate_repeatedly as evaluate_repeatedly,
    get_or_create_eval_step as get_or_create_eval_step,
    wait_for_new_checkpoint as wait_for_new_checkpoint,
)

# As in slim. Compared by identity, because `==` of a tensor may be a tensor.
_USE_DEFAULT: Any = 0


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Mapping[Any, Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Mapping[Any, Any] | None = None,
    final_op: Any = None,
    final_op_feed_dict: Mapping[Any, Any] | None = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Mapping[Any, Any] | None = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Iterable[Any] | None = None,
) -> Any:
    """Evaluates the default graph with the values of one checkpoint.

    Args:
      master: address of the server to run on.
      checkpoint_path: path prefix of the checkpoint.
      logdir: folder for summaries.
      num_evals: number of runs of `eval_op`; None: until the input ends.
      initial_op, initial_op_feed_dict: the `init_op` of the scaffold, which runs if
        nothing is restored, and its feeds.
      eval_op, eval_op_feed_dict: ops to run repeatedly, and their feeds.
      final_op, final_op_feed_dict: ops to run once at the end, and their feeds.
      summary_op, summary_op_feed_dict: summaries to write at the end, and their feeds;
        default: all summaries of the graph, None: no summaries.
      variables_to_restore: variables, or name in the checkpoint -> variable; None: all.
      session_config: a `tf.compat.v1.ConfigProto`.
      hooks: session hooks, called after the hooks that stop and summarise.

    Returns:
      The value of `final_op`; None without it.
    """
    scaffold = _scaffold(initial_op, initial_op_feed_dict, None, variables_to_restore)
    return training_evaluation.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=scaffold,
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Mapping[Any, Any] | None = None,
    init_fn: Callable[[Any, Any], None] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Mapping[Any, Any] | None = None,
    final_op: Any = None,
    final_op_feed_dict: Mapping[Any, Any] | None = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Mapping[Any, Any] | None = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Iterable[Any] | None = None,
) -> Any:
    """Evaluates the default graph with the values of each new checkpoint of a folder.

    See `evaluate_once` for the other arguments.

    Args:
      checkpoint_dir: folder of the checkpoints.
      init_fn: function of scaffold and session that runs if nothing is restored.
      eval_interval_secs: minimum time between evaluations.
      max_number_of_evaluations: maximum number of evaluations; None: no limit.
      timeout, timeout_fn: see `checkpoints_iterator`.

    Returns:
      The value of `final_op` in the last evaluation; None without it.
    """
    scaffold = _scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore)
    return evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=scaffold,
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _scaffold(init_op: Any, feeds: Any, init_fn: Any, variables: Any) -> Any:
    saver = None if variables is None else tf.train.Saver(variables)
    return tf.train.Scaffold(init_op=init_op, init_feed_dict=feeds, init_fn=init_fn, saver=saver)


def _hooks(
    logdir: str,
    num_evals: int | None,
    summary_op: Any,
    feeds: Mapping[Any, Any] | None,
    hooks: Iterable[Any] | None,
) -> list[Any]:
    """Returns the hooks that slim adds, followed by `hooks`."""
    if summary_op is _USE_DEFAULT:
        summary_op = tf.summary.merge_all()
    slim_hooks: list[Any] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        slim_hooks.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feeds))
    return [*slim_hooks, *(hooks or ())]
