"""Applies the gradients in every run, or only in those that the gradient transforms allow.

`accumulate` waits for the gradients of several batches, and a loss scale skips those that are not
finite. In a run without an update global step, variables and slots must stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.graph.operations import branches_of_switches
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
    """Applies gradients in the session runs in which every transform is ready (`all_ready`).

    In other runs variables, slots of the optimizer and the global step do not change. The
    gradients are computed in every run.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      grads_and_vars: pairs; those with None are left out.
      ready: scalar bool tensor, whether to apply them in this run; None: always.
      global_step: the variable that counts the updates.
      then: builds an op that runs after each update, such as one that moves averages.

    Returns:
      The operation.

    Raises:
      ConfigError: a transform holds updates back, and the optimizer waits for
        the gradients of other workers.
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
        raise ConfigError(
            "--sync_replicas cannot wait for updates that are held back: leave out accumulate "
            "(--replicas_to_aggregate adds up gradients as well), and with float16 give a "
            "--loss_scale"
        )
    return _apply_if(ready, apply)


def all_ready(transforms: Iterable[Any]) -> Any:
    """Combines the conditions on which transforms let the gradients be applied in this run.

    Args:
      transforms: gradient transforms; the method `ready` of some returns a scalar bool tensor.

    Returns:
      A scalar bool tensor; None if the gradients are always applied.

    Raises:
      PluginError: `ready` returned something else.
    """
    asked = [transform for transform in transforms if hasattr(transform, "ready")]
    answers = [(transform.ready(), transform) for transform in asked]
    present = [_scalar_bool(ready, asked) for ready, asked in answers if ready is not None]
    return tf.reduce_all(tf.stack(present), name="all_ready") if present else None


def _scalar_bool(ready: Any, transform: Any) -> Any:
    if not (tf.is_tensor(ready) and ready.dtype == tf.bool and ready.shape.rank == 0):
        raise wrong_result(transform, "ready", ready, "a scalar bool tensor, or None")
    return ready


def _apply_if(ready: Any, apply: Callable[[], Any]) -> Any:
    scope = tf.get_default_graph().get_name_scope()

    def update() -> Any:
        # Adam's variables are named by the scope: a checkpoint must fit with and without `cond`.
        with tf.name_scope(f"{scope}/" if scope else None), tf.control_dependencies([apply()]):
            return tf.constant(True)

    with branches_of_switches():
        return tf.group(tf.cond(ready, update, lambda: tf.constant(False), name="apply_if_ready"))
