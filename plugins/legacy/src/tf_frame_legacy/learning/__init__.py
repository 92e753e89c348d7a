"""Training under the names of tf_slim's learning.py, for scripts for slim.

    from tf_frame_legacy import learning  # was: slim.learning

    train_op = learning.create_train_op(total_loss, optimizer)
    learning.train(train_op, logdir, number_of_steps=10000)

Arguments, errors, log messages and file names are slim's. Differences: a model with NaN is never
saved, checkpoints and summaries are written between two steps, an error in the last save is raised,
and synchronous training waits until the variables are initialised (README.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import FiniteCheck
from tf_frame.gradient_transforms.clip import clip_gradients_by_norm
from tf_frame.gradient_transforms.multiply import multiply_gradients as multiply_gradients
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame_legacy.learning import defaults, train_op as _train_op
from tf_frame_legacy.learning.loop import Loop, startup_delay
from tf_frame_legacy.learning.step import train_step as train_step

_USE_DEFAULT = defaults.USE_DEFAULT
_USE_GLOBAL_STEP = _train_op.USE_GLOBAL_STEP


def clip_gradient_norms(gradients_to_variables: GradsAndVars, max_norm: Any) -> GradsAndVars:
    """Scales each gradient with a norm greater than `max_norm` to `max_norm`.

    Args:
      gradients_to_variables: (gradient, variable) pairs; None gradients are kept.
      max_norm: number or scalar tensor above 0, for the slices of a sparse gradient.
    """
    return clip_gradients_by_norm(gradients_to_variables, max_norm)


def add_gradients_summaries(grads_and_vars: GradsAndVars) -> list[Any]:
    """Adds summaries `VARIABLE/gradient` and `VARIABLE/gradient_norm`; returns the summaries."""
    return _train_op.gradient_summaries(grads_and_vars, "/")


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: dict[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Any:
    """Creates the tensor that runs one training step and returns the loss.

    Args:
      clip_gradient_norm: upper bound on the norm of each gradient; 0: no bound.
      gradient_multipliers: variable or its op name -> factor on the gradient, applied
        before clipping.

    See `training.create_train_op` for the other arguments.

    Raises:
      AssertionError: there is no variable to train, or a variable is not trainable.
      ValueError: a variable with a factor has no gradient.
    """

    def transform_grads_fn(pairs: GradsAndVars) -> GradsAndVars:
        if gradient_multipliers:
            with tf.name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with tf.name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return _train_op.create_train_op(
        total_loss,
        optimizer,
        global_step=global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform_grads_fn,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains until `number_of_steps`, or until the input ends.

    The chief writes to `logdir`: `graph.pbtxt`; `model.ckpt-<step>` at the beginning,
    every `save_interval_secs` and at the end; and summaries. A run that begins at a
    checkpoint of the last step makes one more step, as in slim.

    Args:
      train_op: tensor that runs one step and returns the loss.
      logdir: the folder; None: no folder. Training continues from a checkpoint in it.
      train_step_fn: called as `train_step_fn(session, train_op, global_step,
        train_step_kwargs)` for each step; returns the loss and whether to stop.
      train_step_kwargs: replaces the tensors that `train_step` describes;
        `summary_writer` is added.
      log_every_n_steps: steps between log messages; 0: no messages.
      graph: the graph; None: the default graph.
      master: address of the server to run on.
      is_chief: whether this worker initialises, saves and summarises.
      global_step: variable that counts the steps; None: the global step of the graph.
      number_of_steps: last global step; None: no limit.
      init_op, init_feed_dict, local_init_op, ready_op: see
        `tf.compat.v1.train.Supervisor`.
      init_fn: called with the session after `init_op`, unless a checkpoint was restored.
      summary_op: the merged summaries; None: no summaries.
      save_summaries_secs: seconds between summaries, also of `global_step/sec`.
      summary_writer: a `tf.summary.FileWriter`; None: no summaries.
      startup_delay_steps: global step that workers other than the chief wait for.
      saver: a `tf.compat.v1.train.Saver`; None: a saver of all variables.
      save_interval_secs: seconds between checkpoints; 0: only the last checkpoint.
      sync_optimizer: a `tf.train.SyncReplicasOptimizer`, or a list of them.
      session_config: a `tf.compat.v1.ConfigProto`.
      session_wrapper: maps each session to the session that is used.
      trace_every_n_steps: steps between traces `tf_trace-<step>.json`.
      ignore_live_threads: whether threads may continue after the end.

    Returns:
      The loss of the last step; None if no step was run.

    Raises:
      ValueError: arguments that exclude each other.
      NonFiniteError: a variable had NaN or infinity when it was to be saved.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    defaults.check_folder(logdir, summary_op, saver, trace_every_n_steps)
    defaults.check_steps(number_of_steps, startup_delay_steps, sync_optimizer)
    graph = graph or tf.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = tf.train.get_or_create_global_step()
        saver = saver or tf.train.Saver()
        optimizers = defaults.sync_optimizers(sync_optimizer)
        init_ops = defaults.init_ops(init_op, ready_op, local_init_op, optimizers, is_chief)
        if summary_op is _USE_DEFAULT:
            summary_op = tf.summary.merge_all()
        sync_hooks = defaults.sync_hooks(optimizers, is_chief)
        if train_step_kwargs is _USE_DEFAULT:
            train_step_kwargs = defaults.step_kwargs(
                global_step,
                number_of_steps=number_of_steps,
                log_every_n_steps=log_every_n_steps,
                trace_every_n_steps=trace_every_n_steps if is_chief else None,
                logdir=logdir,
            )
        # Slim's programs may have state that is infinite at first, such as the best loss so far.
        finite_check = FiniteCheck(allow_infinite_state=True)
        if summary_writer is _USE_DEFAULT:
            summary_writer = tf.train.Supervisor.USE_DEFAULT
        supervisor = tf.train.Supervisor(
            graph=graph,
            is_chief=is_chief,
            logdir=logdir,
            init_feed_dict=init_feed_dict,
            summary_op=summary_op,
            summary_writer=summary_writer,
            global_step=global_step,
            saver=saver,
            save_summaries_secs=0,
            save_model_secs=0,
            init_fn=init_fn,
            **init_ops,
        )
        if summary_writer is not None:
            train_step_kwargs["summary_writer"] = supervisor.summary_writer
        loop = Loop(
            supervisor=supervisor,
            step=lambda session: train_step_fn(session, train_op, global_step, train_step_kwargs),
            master=master,
            session_config=session_config,
            session_wrapper=session_wrapper,
            finite_check=finite_check,
            save_interval_secs=save_interval_secs,
            save_summaries_secs=save_summaries_secs,
            startup_delay_steps=startup_delay(startup_delay_steps, number_of_steps),
            sync_hooks=sync_hooks,
            ignore_live_threads=ignore_live_threads,
        )
        return loop.run()
