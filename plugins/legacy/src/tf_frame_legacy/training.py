"""Training under the names of tf.contrib.training, for scripts of TensorFlow 1.

from tf_frame_legacy import training  # was: tf.contrib.training

train_op = training.create_train_op(total_loss, optimizer)
training.train(train_op, logdir, hooks=[tf.train.StopAtStepHook(last_step=10000)])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import FiniteCheck
from tf_frame.gradient_transforms.multiply import multiply_gradients as multiply_gradients
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.global_step import read_step_after, step_after_run
from tf_frame.hooks.stock.checkpoint_saver import CheckpointSaverHook
from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.hooks.stock.summary_saver import SummarySaverHook
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.schedule import Schedule
from tf_frame_legacy.hparams import HParams as HParams, parse_values as parse_values
from tf_frame_legacy.learning import (
    clip_gradient_norms as clip_gradient_norms,
    train_op as _train_op,
)
from tf_frame_legacy.learning.train_op import create_train_op as create_train_op
from tf_frame_legacy.training_evaluation import (
    StopAfterNEvalsHook as StopAfterNEvalsHook,
    SummaryAtEndHook as SummaryAtEndHook,
    checkpoints_iterator as checkpoints_iterator,
    evaluate_once as evaluate_once,
    evaluate_repeatedly as evaluate_repeatedly,
    get_or_create_eval_step as get_or_create_eval_step,
    wait_for_new_checkpoint as wait_for_new_checkpoint,
)

# Default of log_step_count_steps in MonitoredTrainingSession.
_COUNT_EVERY_STEPS = 100


def add_gradients_summaries(grads_and_vars: GradsAndVars) -> list[Any]:
    """Adds summaries `VARIABLE_gradient` and `VARIABLE_gradient_norm`; returns the summaries."""
    return _train_op.gradient_summaries(grads_and_vars, "_")


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[GradsAndVars], GradsAndVars]:
    """Returns `clip_gradient_norms` with a norm, a `transform_grads_fn` for `create_train_op`."""
    return functools.partial(clip_gradient_norms, max_norm=max_norm)


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Iterable[Any] | None = None,
    chief_only_hooks: Iterable[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Trains until a hook requests a stop, or the input ends.

    Args:
      train_op: tensor that runs one step and returns the loss.
      logdir: folder for checkpoints and summaries. Training continues from a checkpoint
        in it.
      master: address of the server to run on.
      is_chief: whether this worker initialises, saves and summarises.
      scaffold: a `tf.compat.v1.train.Scaffold`.
      hooks: hooks of all workers, called after the hooks of the chief.
      chief_only_hooks: hooks of the chief, called before the hooks of this function.
      save_checkpoint_secs: seconds between checkpoints; 0 or None: no checkpoints.
      save_summaries_steps: steps between summaries; 0 or None: no summaries.
      config: a `tf.compat.v1.ConfigProto`.
      max_wait_secs: maximum time that other workers wait for the chief.
      run_metadata: a `tf.compat.v1.RunMetadata` that each step fills.

    Returns:
      The loss of the last step; None if no step was run.

    Raises:
      ValueError: checkpoints or summaries of the chief, but no `logdir`.
      NonFiniteError: a variable had NaN or infinity when it was to be saved.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    step = _prepared_step(train_op)
    scaffold = scaffold or tf.train.Scaffold()
    if is_chief:
        creator = tf.train.ChiefSessionCreator(
            scaffold, master=master, config=config, checkpoint_dir=logdir
        )
        chief_hooks = _chief_hooks(logdir, scaffold, save_checkpoint_secs, save_summaries_steps)
        all_hooks = [*(chief_only_hooks or ()), *chief_hooks, *(hooks or ())]
    else:
        creator = tf.train.WorkerSessionCreator(
            scaffold, master=master, config=config, max_wait_secs=max_wait_secs
        )
        all_hooks = list(hooks or ())
    if run_metadata is None and step is not None:
        return _run_prepared(creator, all_hooks, step)
    return _run_singly(tf.train.MonitoredSession(creator, all_hooks), train_op, run_metadata)


def _run_prepared(creator: Any, hooks: list[Any], step: _Step) -> Any:
    """Runs steps in tf-frame's loop until a hook asks to stop or the input ends."""
    schedule = Schedule(hooks, sort=False)  # TensorFlow's order, whatever the phases.
    loop = TrainingLoop(step, schedule)
    with tf.train.MonitoredSession(creator, loop.hooks) as session:
        loop.run(session)
    return loop.loss


def _run_singly(monitored_session: Any, train_op: Any, run_metadata: Any) -> Any:
    """Runs steps by `Session.run`, which fills the metadata of the caller."""
    loss = None
    with monitored_session as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss


class _Step(NamedTuple):
    """The step of a graph that tf-frame did not build."""

    train_op: Any
    step_after: Any
    global_step: Any
    scalars: Sequence[Any] = ()


def _prepared_step(train_op: Any) -> _Step | None:
    """The step, with a read of the global step after the update; None if there is no such read.

    The read is added to the graph, for the hooks too, unless the graph is
    finalized, has no global step, or has the read.
    """
    global_step = tf.train.get_global_step()
    if global_step is None:
        return None
    if step_after_run() is global_step and not tf.get_default_graph().finalized:
        read_step_after(tf.nest.flatten(train_op), global_step)
    step_after = step_after_run()
    if step_after is global_step or not isinstance(train_op, tf.Tensor):
        return None
    return _Step(train_op, step_after, global_step)


def _chief_hooks(
    logdir: str | None,
    scaffold: Any,
    save_checkpoint_secs: float | None,
    save_summaries_steps: int | None,
) -> list[Any]:
    """Returns the hooks that `MonitoredTrainingSession` adds on the chief, in its order."""
    hooks: list[Any] = []
    if not logdir:
        return hooks
    hooks.append(StepCounterHook(every_n_steps=_COUNT_EVERY_STEPS, output_dir=logdir))
    if save_summaries_steps and save_summaries_steps > 0:
        hooks.append(
            SummarySaverHook(save_steps=save_summaries_steps, output_dir=logdir, scaffold=scaffold)
        )
    if save_checkpoint_secs and save_checkpoint_secs > 0:
        hooks.append(
            CheckpointSaverHook(
                logdir,
                save_secs=save_checkpoint_secs,
                scaffold=scaffold,
                listeners=[_FiniteListener()],
            )
        )
    return hooks


class _FiniteListener(tf.train.CheckpointSaverListener):
    """Refuses to save a model with NaN, or with infinity in a trainable variable.

    Untrained state may be infinite at first, such as the best loss so far.
    """

    def begin(self) -> None:
        self._check = FiniteCheck(allow_infinite_state=True)

    def before_save(self, session: Any, global_step_value: int) -> None:
        self._check.check(session.run(self._check.fetch), global_step_value)
