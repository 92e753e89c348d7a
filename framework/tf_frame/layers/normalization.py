"""Batch normalisation, https://arxiv.org/abs/1502.03167."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.variables import model_variable


def batch_norm(
    inputs: Any,
    *,
    is_training: bool,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation: Any = None,
    scope: str = "BatchNorm",
) -> Any:
    """Normalises every channel over batch, height and width (fused kernel).

    In training the batch's own mean and variance are used, and the updates of
    `moving_mean` and `moving_variance` are put into `tf.GraphKeys.UPDATE_OPS`;
    the train op must depend on them. Otherwise the moving values are used.

    Args:
      inputs: `[batch, height, width, channels]`, channels known.
      is_training: whether to use the statistics of the batch.
      decay: how much of a moving value is kept per step; training of a few
        hundred steps needs 0.9 to 0.97.
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      epsilon: added to the variance.
      activation: applied at the end, or None.
      scope: variable scope.

    Returns:
      A tensor of the shape of `inputs`.
    """
    with tf.variable_scope(scope, values=[inputs]):
        channels = [inputs.shape.as_list()[-1]]
        gamma, beta = _factors(channels, center=center, scale=scale)
        moving = [
            model_variable("moving_mean", channels, initializer=_ZEROS, trainable=False),
            model_variable("moving_variance", channels, initializer=_ONES, trainable=False),
        ]
        if is_training:
            outputs, *batch = tf.nn.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon)
            _update(moving, batch, decay)
        else:
            outputs, _, _ = tf.nn.fused_batch_norm(
                inputs, gamma, beta, *moving, epsilon=epsilon, is_training=False
            )
        return outputs if activation is None else activation(outputs)


_ZEROS = tf.zeros_initializer()
_ONES = tf.ones_initializer()


def _factors(channels: list[int], *, center: bool, scale: bool) -> tuple[Any, Any]:
    gamma = model_variable("gamma", channels, initializer=_ONES) if scale else tf.ones(channels)
    beta = model_variable("beta", channels, initializer=_ZEROS) if center else tf.zeros(channels)
    return gamma, beta


def _update(moving: list[Any], batch: list[Any], decay: float) -> None:
    for variable, value in zip(moving, batch, strict=True):
        step = (variable - value) * (1.0 - decay)
        update = tf.assign_sub(variable, step)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, getattr(update, "op", update))
