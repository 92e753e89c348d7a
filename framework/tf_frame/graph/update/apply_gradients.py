"""Applies the gradients in every run, or only in the runs that the gradient transforms allow.

`accumulate` waits for the gradients of several batches, and a loss scale skips gradients that are
not finite. A run without an update must not change global step, variables and slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.graph.graph_edits import switch_branches
from tf_frame.graph.update.sync_replicas import SyncReplicas
from tf_frame.plugin.origin import wrong_result


def apply_gradients(
    optimizer: Any,
    grads_and_vars: Iterable[tuple[Any, Any]],
    *,
    ready: Any = None,
    global_step: Any,
    then: Callable[[], Any] | None = None,
) -> Any:
    """Applies gradients in the session runs that every transform allows (`all_ready`).

    The gradients are computed in every run.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      grads_and_vars: pairs; pairs with None are left out.
      ready: scalar bool tensor: whether this run applies the gradients; None: every run does.
      global_step: the variable that counts the updates.
      then: builds an op that runs after each update, such as moving averages.

    Returns:
      The operation.

    Raises:
      ConfigError: a transform holds updates back, and the optimizer waits for the gradients of
        other workers.
    """
    present = [
        (gradient, variable) for gradient, variable in grads_and_vars if gradient is not None
    ]

    def apply() -> Any:
        update = optimizer.apply_gradients(present, global_step=global_step)
        with tf.control_dependencies([update]):
            return tf.group(update, *([then()] if then else []))

    if ready is None:
        return tf.group(apply())
    if isinstance(optimizer, (SyncReplicas, tf.train.SyncReplicasOptimizer)):
        refuse_held_back(ready)
    return _apply_if(ready, apply)


def refuse_held_back(ready: Any) -> None:
    """Refuses transforms that hold updates back, where the optimizer waits for other workers.

    Raises:
      ConfigError: `ready`, of `all_ready`, is not None.
    """
    if ready is not None:
        raise ConfigError(
            "--sync_replicas cannot wait for updates that are held back: leave out accumulate "
            "(--replicas_to_aggregate adds up gradients as well), and with float16 give a "
            "--loss_scale"
        )


def all_ready(transforms: Iterable[Any]) -> Any:
    """Returns a scalar bool tensor: whether all transforms allow this run to apply the gradients.

    None if no transform restricts the runs. Only transforms with a method `ready` do.

    Raises:
      PluginError: `ready` returned neither a scalar bool tensor nor None.
    """
    conditions = []
    for transform in transforms:
        ready = transform.ready() if hasattr(transform, "ready") else None
        if ready is None:
            continue
        if not (tf.is_tensor(ready) and ready.dtype == tf.bool and ready.shape.rank == 0):
            raise wrong_result(transform, "ready", ready, "a scalar bool tensor, or None")
        conditions.append(ready)
    return tf.reduce_all(tf.stack(conditions), name="all_ready") if conditions else None


def _apply_if(ready: Any, apply: Callable[[], Any]) -> Any:
    scope = tf.get_default_graph().get_name_scope()

    def update() -> Any:
        # The scope names Adam's variables: a checkpoint must fit with and without `cond`.
        with tf.name_scope(f"{scope}/" if scope else None), tf.control_dependencies([apply()]):
            return tf.constant(True)

    with switch_branches():
        return tf.group(tf.cond(ready, update, lambda: tf.constant(False), name="apply_if_ready"))
