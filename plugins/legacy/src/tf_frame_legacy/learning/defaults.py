"""Checks and default values of the arguments of `learning.train`.

Messages, order of the checks, ops and name scopes are the same as in tf_slim (learning.py), so
scripts for slim see the same errors and the same graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.learning.sync_hook import SyncReplicasHook

# As in slim. Compared by identity, because `==` of a tensor may be a tensor.
USE_DEFAULT: Any = 0


def check_folder(logdir: str | None, summary_op: Any, saver: Any, trace_every_n_steps: Any) -> None:
    """Raises ValueError for an argument that needs a folder if there is none."""
    if logdir is not None:
        return
    if summary_op is not USE_DEFAULT:
        raise ValueError("Cannot provide summary_op because logdir=None")
    if saver is not None:
        raise ValueError("Cannot provide saver because logdir=None")
    if trace_every_n_steps is not None:
        raise ValueError("Cannot provide trace_every_n_steps because logdir=None")


def check_steps(number_of_steps: int | None, startup_delay_steps: int, sync_optimizer: Any) -> None:
    """Raises ValueError if `number_of_steps` is not positive, or synchronous workers wait."""
    if sync_optimizer is not None and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def sync_optimizers(sync_optimizer: Any) -> Sequence[Any]:
    """Converts the argument `sync_optimizer` to a sequence, empty for None.

    Raises:
      ValueError: an element is not a `tf.train.SyncReplicasOptimizer`.
    """
    if sync_optimizer is None:
        return []
    several = sync_optimizer if isinstance(sync_optimizer, (list, tuple)) else [sync_optimizer]
    for optimizer in several:
        if not isinstance(optimizer, tf.train.SyncReplicasOptimizer):
            raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return list(several)


def init_ops(
    init_op: Any, ready_op: Any, local_init_op: Any, optimizers: Sequence[Any], is_chief: bool
) -> dict[str, Any]:
    """Returns the initialisation ops, as keyword arguments of `tf.compat.v1.train.Supervisor`.

    The local step of synchronous training is set once every variable is initialised.
    slim passed its lists of uninitialised variables to `tf.group`, which has no value,
    and so did not wait.
    """
    with tf.name_scope("init_ops"):
        if init_op is USE_DEFAULT:
            init_op = tf.global_variables_initializer()
        if ready_op is USE_DEFAULT:
            ready_op = tf.report_uninitialized_variables()
        if local_init_op is USE_DEFAULT:
            local_init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        uninitialized = None
        if optimizers:
            with tf.control_dependencies([] if local_init_op is None else [local_init_op]):
                local_init_op = tf.group(
                    *[o.chief_init_op if is_chief else o.local_step_init_op for o in optimizers]
                )
            uninitialized = tf.concat([o.ready_for_local_init_op for o in optimizers], axis=0)
        return {
            "init_op": init_op,
            "ready_op": ready_op,
            "local_init_op": local_init_op,
            "ready_for_local_init_op": uninitialized,
        }


def sync_hooks(optimizers: Sequence[Any], is_chief: bool) -> Sequence[SyncReplicasHook]:
    """Returns the hooks that start synchronous training in each session.

    On the chief they also apply the updates. The hooks set the local step again, because
    `local_init_op` may set it before it initialises local variables. The token queue begins with
    the tokens that the first update needs. slim began with `replicas_to_aggregate` tokens: each
    worker was one update behind, and its gradients could be dropped as stale.
    """
    hooks = [
        SyncReplicasHook(optimizer, is_chief=is_chief, num_tokens=_missing_workers(optimizer))
        for optimizer in optimizers
    ]
    for hook in hooks:
        hook.begin()
    return hooks


def _missing_workers(optimizer: Any) -> int:
    # The optimizer has no public access to these numbers.
    return max(int(optimizer._replicas_to_aggregate - optimizer._total_num_replicas), 0)


def step_kwargs(
    global_step: Any,
    *,
    number_of_steps: int | None,
    log_every_n_steps: int,
    trace_every_n_steps: int | None,
    logdir: str | None,
) -> dict[str, Any]:
    """Returns the default `train_step_kwargs` of `train_step`; see `learning.train`."""
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
