"""`optimize_loss`, which creates a train op in one call, with the arguments of tf_slim.

train_op = slim.optimize_loss(loss, global_step, 0.01, "Momentum", clip_gradients=1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.clip import clip_gradients_by_global_norm
from tf_frame.gradient_transforms.values import GradsAndVars, gradient_values, multiplied, on_values
from tf_frame.graph.update.gradients import wait_for_loss
from tf_frame_legacy.slim.optimizers.adaptive_clipping import adaptive_clipping_fn
from tf_frame_legacy.slim.optimizers.choice import (
    OPTIMIZER_CLS_NAMES,
    chosen_optimizer,
    decayed,
    learning_rate_tensor,
)

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
_DEFAULT_SUMMARIES = ("loss", "learning_rate", "global_gradient_norm")
_NORMS = frozenset(("global_gradient_norm", "gradient_norm"))


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Callable[[GradsAndVars], GradsAndVars] | None = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Iterable[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """Creates the tensor that runs one training step and returns the loss before it.

    Gradients get noise first, then are multiplied by factors, then are clipped.

    Args:
      loss: scalar tensor.
      global_step: scalar of an integer type; None: the global step of the graph, if any.
      learning_rate: scalar tensor, or a float, which becomes a variable `learning_rate`;
        None if the optimizer has a learning rate.
      optimizer: name in `OPTIMIZER_CLS_NAMES`, optimizer, optimizer class, or function of
        the learning rate (without arguments if the learning rate is None).
      gradient_noise_scale: standard deviation of truncated normal noise, which is added to
        the slices of sparse gradients.
      gradient_multipliers: variable or its name (`w:0`) -> factor.
      clip_gradients: maximum global norm, a float, or a function of the pairs such as
        `adaptive_clipping_fn()`.
      learning_rate_decay_fn: function of learning rate and global step.
      update_ops: run before the loss is computed; None: `tf.GraphKeys.UPDATE_OPS`.
      variables: variables to train; None: all trainable variables.
      name: variable scope; None: `OptimizeLoss`, made unique.
      summaries: names from `OPTIMIZER_SUMMARIES`; None: loss, learning rate and global
        norm.
      colocate_gradients_with_ops: see `tf.compat.v1.gradients`.
      increment_global_step: whether a step increments the global step.

    Raises:
      ValueError: a wrong argument, or arguments that exclude each other.
      TypeError: the global step is not of an integer type.
    """
    loss = tf.convert_to_tensor(loss)
    tf.debugging.assert_scalar(loss)
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        loss = _after(_list_updates(update_ops), loss)
        rate = learning_rate_tensor(learning_rate)
        chosen_summaries = _checked_summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            rate = decayed(rate, global_step, learning_rate_decay_fn)
            if "learning_rate" in chosen_summaries:
                tf.summary.scalar("learning_rate", rate)
        chosen = chosen_optimizer(optimizer, rate)
        pairs = chosen.compute_gradients(
            loss,
            tf.trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        pairs = _noisy_and_scaled(pairs, gradient_noise_scale, gradient_multipliers)
        if _NORMS & chosen_summaries:
            _summarize_norm("gradient_norm", pairs)
        pairs = _clipped(pairs, clip_gradients)
        _summarize(loss, pairs, chosen_summaries)
        if clip_gradients is not None and _NORMS & chosen_summaries:
            _summarize_norm("clipped_gradient_norm", pairs)
        counted = global_step if increment_global_step else None
        update = chosen.apply_gradients(
            wait_for_loss(loss, pairs), global_step=counted, name="train"
        )
        return _after([update], loss)


def _list_updates(update_ops: Iterable[Any] | None) -> list[Any]:
    return list(tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)


def _after(ops: list[Any], loss: Any) -> Any:
    """Returns the loss, which depends on the operations."""
    if not ops:
        return loss
    with tf.control_dependencies(ops):
        return tf.identity(loss)


def _checked_summaries(summaries: Sequence[str] | None) -> set[str]:
    for summary in summaries or ():
        if summary not in OPTIMIZER_SUMMARIES:
            names = ", ".join(OPTIMIZER_SUMMARIES)
            raise ValueError(f"Summaries should be one of [{names}], you provided {summary}.")
    return set(_DEFAULT_SUMMARIES if summaries is None else summaries)


def _noisy_and_scaled(
    pairs: GradsAndVars, noise_scale: float | None, multipliers: Mapping[Any, Any] | None
) -> GradsAndVars:
    if noise_scale is not None:
        pairs = [(on_values(g, lambda v: _with_noise(v, noise_scale)), v) for g, v in pairs]
    if multipliers is not None:
        pairs = [(_scaled(gradient, v, multipliers), v) for gradient, v in pairs]
    return pairs


def _with_noise(values: Any, scale: float) -> Any:
    return values + tf.random.truncated_normal(tf.shape(values), dtype=values.dtype) * scale


def _scaled(gradient: Any, variable: Any, multipliers: Mapping[Any, Any]) -> Any:
    key = variable if variable in multipliers else variable.name
    if key not in multipliers:
        return gradient
    return multiplied(gradient, multipliers[key])


def _clipped(pairs: GradsAndVars, clip: Any) -> GradsAndVars:
    if clip is None:
        return pairs
    if isinstance(clip, float):
        return clip_gradients_by_global_norm(pairs, clip)
    if callable(clip):
        return list(clip(pairs))
    raise ValueError(f"Unknown type {type(clip)} for clip_gradients")


def _summarize(loss: Any, pairs: GradsAndVars, chosen_summaries: set[str]) -> None:
    if "loss" in chosen_summaries:
        tf.summary.scalar("loss", loss)
    for gradient, variable in pairs:
        if gradient is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in chosen_summaries:
            tf.summary.histogram(f"gradients/{name}", gradient_values(gradient))
        if "gradient_norm" in chosen_summaries:
            tf.summary.scalar(f"gradient_norm/{name}", tf.global_norm([gradient_values(gradient)]))


def _summarize_norm(name: str, pairs: GradsAndVars) -> None:
    norm = tf.global_norm([gradient for gradient, _ in pairs])
    tf.summary.scalar(f"global_norm/{name}", norm)
