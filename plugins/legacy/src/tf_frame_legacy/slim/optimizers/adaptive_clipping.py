"""Clipping of gradients with an unusually large norm, as in tf_slim, layers/optimizers.py.

The limit follows the norms of earlier steps (section 3.2.1 of https://arxiv.org/abs/1412.1602).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.values import GradsAndVars, on_values


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[GradsAndVars], GradsAndVars]:
    """Returns a function that scales gradients with an unusually large global norm.

    Mean and standard deviation of the logarithm of the norm are computed from moving
    averages, the variables `AdaptiveMaxNorm/mean` and `sq_mean`. A norm greater than
    `exp(mean + std_factor * std)` is scaled to `exp(mean)`.

    Args:
      std_factor: number or scalar tensor.
      decay: decay of the moving averages.
      static_max_norm: a further upper bound on the norm; None: no bound.
      global_step: limits the decay to `step / (step + 1)`, so that the averages converge
        faster at first; None: no limit.
      report_summary: add the limit as summary `global_norm/adaptive_max_gradient_norm`.
      epsilon: lower bound of the variance, and of the argument of the logarithm.
      name: variable scope; None: `AdaptiveMaxNorm`, made unique.

    Returns:
      A function of (gradient, variable) pairs; None gradients are kept.
    """

    def clip(grads_and_vars: GradsAndVars) -> GradsAndVars:
        norm = tf.global_norm([gradient for gradient, _ in grads_and_vars])
        with tf.variable_scope(name, "AdaptiveMaxNorm", [norm]):
            limit, usual = _limit_and_usual(norm, std_factor, decay, global_step, epsilon)
        if report_summary:
            tf.summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
        factor = tf.where(norm < limit, tf.ones_like(norm), usual / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)
        return [(on_values(g, lambda values: values * factor), v) for g, v in grads_and_vars]

    return clip


def _limit_and_usual(
    norm: Any, std_factor: Any, decay: Any, global_step: Any, epsilon: float
) -> tuple[Any, Any]:
    """Returns the upper bound on the norm, and the norm after clipping; scalar tensors."""
    log_norm = tf.log(norm + epsilon)
    if global_step is not None:
        step = tf.cast(global_step, tf.float32)
        decay = tf.minimum(decay, step / (step + 1.0))
    mean = _moving_average("mean", log_norm, decay)
    square = _moving_average("sq_mean", tf.square(log_norm), decay)
    std = tf.sqrt(tf.maximum(epsilon, square - tf.square(mean)))
    return tf.exp(mean + std_factor * std), tf.exp(mean)


def _moving_average(name: str, value: Any, decay: Any) -> Any:
    """Returns a moving average, initially 0, after its update by a value."""
    average = tf.get_variable(
        name,
        shape=value.shape,
        dtype=value.dtype,
        initializer=tf.zeros_initializer(),
        trainable=False,
    )
    change = (average - value) * (1.0 - decay)
    return tf.convert_to_tensor(tf.assign_sub(average, change))
