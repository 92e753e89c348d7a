"""What `learning.train` checks, and what it runs where the program says nothing.

Texts, order of the checks, ops and name scopes are those of tf_slim (learning.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.update.sync_replicas import SyncReplicasHook

# slim's; compared by identity, since `==` of a tensor is another tensor.
USE_DEFAULT: Any = 0


def check_folder(logdir: str | None, summary_op: Any, saver: Any, trace_every_n_steps: Any) -> None:
    """Refuses arguments that write, where there is no folder.

    Raises:
      ValueError: there is one.
    """
    if logdir is not None:
        return
    if summary_op is not USE_DEFAULT:
        raise ValueError("Cannot provide summary_op because logdir=None")
    if saver is not None:
        raise ValueError("Cannot provide saver because logdir=None")
    if trace_every_n_steps is not None:
        raise ValueError("Cannot provide trace_every_n_steps because logdir=None")


def check_steps(number_of_steps: int | None, startup_delay_steps: int, sync_optimizer: Any) -> None:
    """Refuses a number of steps that is not positive, and a delay of synchronous workers.

    Raises:
      ValueError: either.
    """
    if sync_optimizer is not None and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def sync_optimizers(sync_optimizer: Any) -> Sequence[Any]:
    """The argument as a sequence, which None makes an empty one.

    Raises:
      ValueError: one is no `tf.train.SyncReplicasOptimizer`.
    """
    if sync_optimizer is None:
        return []
    several = sync_optimizer if isinstance(sync_optimizer, (list, tuple)) else [sync_optimizer]
    for optimizer in several:
        if not isinstance(optimizer, tf.train.SyncReplicasOptimizer):
            raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return list(several)


@dataclasses.dataclass(frozen=True)
class InitOps:
    """What makes a session ready; each as `tf.compat.v1.train.Supervisor` takes it."""

    init_op: Any
    ready_op: Any
    local_init_op: Any
    ready_for_local_init_op: Any


def init_ops(
    init_op: Any, ready_op: Any, local_init_op: Any, optimizers: Sequence[Any], is_chief: bool
) -> InitOps:
    """Fills in the ops that the program left to their defaults.

    The local step of synchronous training is set once every variable has a
    value. slim's list of variables without one was dropped on its way
    (`tf.group` of tensors), so that it never waited.
    """
    with tf.name_scope("init_ops"):
        if init_op is USE_DEFAULT:
            init_op = tf.global_variables_initializer()
        if ready_op is USE_DEFAULT:
            ready_op = tf.report_uninitialized_variables()
        if local_init_op is USE_DEFAULT:
            local_init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        if not optimizers:
            return InitOps(init_op, ready_op, local_init_op, None)
        with tf.control_dependencies([] if local_init_op is None else [local_init_op]):
            local_init_op = tf.group(
                *[o.chief_init_op if is_chief else o.local_step_init_op for o in optimizers]
            )
        missing = tf.concat([o.ready_for_local_init_op for o in optimizers], axis=0)
        return InitOps(init_op, ready_op, local_init_op, missing)


def sync_hooks(optimizers: Sequence[Any], is_chief: bool) -> Sequence[SyncReplicasHook]:
    """What begins synchronous training in each session, and makes the updates on the chief.

    It sets the local step once more: `local_init_op` may do so before it gives
    local variables their first values. The queue begins with the tokens that the
    first update needs. slim put in `replicas_to_aggregate`, with which each
    worker is one update behind, and a gradient of it may be dropped for that.
    """
    hooks = [
        SyncReplicasHook(optimizer, is_chief=is_chief, num_tokens=_missing_workers(optimizer))
        for optimizer in optimizers
    ]
    for hook in hooks:
        hook.begin()
    return hooks


def _missing_workers(optimizer: Any) -> int:
    # The numbers that it was made with have no public name.
    return max(int(optimizer._replicas_to_aggregate - optimizer._total_num_replicas), 0)


def step_kwargs(
    global_step: Any,
    *,
    number_of_steps: int | None,
    log_every_n_steps: int,
    trace_every_n_steps: int | None,
    logdir: str | None,
) -> dict[str, Any]:
    """What `train_step` gets where the program gives it nothing.

    Args:
      global_step: the variable.
      number_of_steps: global step at which to stop; None for never.
      log_every_n_steps: steps from one line of log to the next; 0 for none.
      trace_every_n_steps: steps from one trace to the next; None for none.
      logdir: where traces go.
    """
    with tf.name_scope("train_step"):
        stop = tf.constant(False)
        if number_of_steps:
            stop = tf.greater_equal(global_step, number_of_steps)
        kwargs: dict[str, Any] = {"should_stop": stop}
        if log_every_n_steps > 0:
            kwargs["should_log"] = _every(log_every_n_steps, global_step)
        if trace_every_n_steps is not None:
            kwargs["should_trace"] = _every(trace_every_n_steps, global_step)
            kwargs["logdir"] = logdir
    return kwargs


def _every(steps: int, global_step: Any) -> Any:
    return tf.equal(tf.mod(global_step, steps), 0)
