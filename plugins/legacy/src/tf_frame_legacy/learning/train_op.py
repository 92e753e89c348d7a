"""The train op of a loss, as tf.contrib.training and tf_slim's learning.py create it.

For `create_train_op` of `tf_frame_legacy.learning` and `tf_frame_legacy.training`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.values import GradsAndVars, gradient_values
from tf_frame.graph.update.gradients import wait_for_loss

# Default of `global_step` in both modules: the global step of the graph.
USE_GLOBAL_STEP = 0


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[GradsAndVars], GradsAndVars] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """Creates the tensor that runs one training step and returns the loss.

    As in tf_slim (training/training.py), except that the update depends on the loss: the returned
    loss is the loss before the update, and with `check_numerics` a loss that is not finite changes
    no variable.

    Args:
      total_loss: scalar.
      optimizer: a `tf.compat.v1.train.Optimizer`.
      global_step: variable that counts the steps; None: no counting. Default: the
        global step of the graph, which is created if missing.
      update_ops: run before the loss is computed; None: `tf.GraphKeys.UPDATE_OPS`.
      variables_to_train: the variables; None: all trainable variables.
      transform_grads_fn: maps a list of (gradient, variable) pairs to such a list.
      summarize_gradients: add a histogram and the norm of each gradient.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: see
        `tf.compat.v1.train.Optimizer.compute_gradients`.
      check_numerics: raise `LossTensor is inf or nan` for a loss that is not finite.

    Raises:
      AssertionError: there is no variable to train, or a variable is not trainable.
    """
    if global_step is USE_GLOBAL_STEP:
        global_step = tf.train.get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    pairs = optimizer.compute_gradients(
        total_loss,
        _checked(variables_to_train),
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            gradient_summaries(pairs, "_")
    with tf.name_scope("train_op") as scope:
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        pairs = wait_for_loss(total_loss, pairs)
    update = optimizer.apply_gradients(pairs, global_step=global_step)
    with tf.name_scope(scope), tf.control_dependencies([update]):
        train_op = tf.identity(total_loss, name="control_dependency")
    tf.add_to_collection(tf.GraphKeys.TRAIN_OP, train_op)
    return train_op


def gradient_summaries(
    grads_and_vars: GradsAndVars,
    separator: str,
    summarize_norm: Callable[[str, Any], Any] = tf.summary.scalar,
) -> list[Any]:
    """Adds summaries of each gradient and its norm; of the slices if it is sparse.

    Args:
      grads_and_vars: pairs; a variable without gradient is logged.
      separator: text between the name of a variable and `gradient` or `gradient_norm`.
      summarize_norm: function of tag and norm that adds the summary of a norm.

    Returns:
      The summaries, scalar string tensors, which are also in `tf.GraphKeys.SUMMARIES`.
    """
    summaries = []
    for gradient, variable in grads_and_vars:
        name = variable.op.name
        if gradient is None:
            tf.logging.info("Var %s has no gradient", name)
            continue
        values = gradient_values(gradient)
        summaries.append(tf.summary.histogram(f"{name}{separator}gradient", values))
        norm = tf.global_norm([values])
        summaries.append(summarize_norm(f"{name}{separator}gradient_norm", norm))
    return summaries


def _after_updates(total_loss: Any, update_ops: Iterable[Any] | None) -> Any:
    """Returns the loss, which depends on the update ops."""
    graph_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    chosen = graph_ops if update_ops is None else list(update_ops)
    if not {id(op) for op in graph_ops} <= {id(op) for op in chosen}:
        tf.logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if not chosen:
        return total_loss
    with tf.control_dependencies(chosen):
        barrier = tf.no_op(name="update_barrier")
    with tf.control_dependencies([barrier]):
        return tf.identity(total_loss)


def _checked(variables: Sequence[Any] | None) -> Sequence[Any]:
    if variables is None:
        variables = tf.trainable_variables()
    trainable_ids = set(map(id, tf.trainable_variables()))
    for variable in variables:
        if not variable.trainable and id(variable) not in trainable_ids:
            raise AssertionError(
                f"variables_to_train has {variable.op.name}, which is not trainable"
            )
    if not variables:
        raise AssertionError("there is no variable to train")
    return variables
