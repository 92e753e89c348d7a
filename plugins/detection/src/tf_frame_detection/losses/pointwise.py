"""Losses of classes and of box codes, `[batch, anchors]`: the sum over each anchor.

Equations and defaults are those of the object detection API (tensorflow/models,
research/object_detection/core/losses.py, protos/losses.proto). The losses of classes take:

  logits: `[batch, anchors, classes]` float32.
  targets: the same, 0 to 1.
  weights: `[batch, anchors]`.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def sigmoid_focal(
    logits: Any, targets: Any, weights: Any, *, alpha: float | None = 0.25, gamma: float = 2.0
) -> Any:
    """Returns the focal loss, which gives little weight to anchors that are already right.

    Equation 5 of https://arxiv.org/abs/1708.02002: -alpha_t (1 - p_t) ** gamma log(p_t).

    Args:
      logits, targets, weights: see above.
      alpha: weight of objects, 1 - alpha that of background; None: both have 1.
      gamma: exponent of the error.
    """
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
    if gamma:
        errors = targets * tf.sigmoid(-logits) + (1 - targets) * tf.sigmoid(logits)
        losses *= tf.pow(errors, gamma)
    if alpha is not None:
        losses *= targets * alpha + (1 - targets) * (1 - alpha)
    return tf.reduce_sum(losses, axis=2) * weights


def weighted_sigmoid(logits: Any, targets: Any, weights: Any) -> Any:
    """Returns the sigmoid cross entropy."""
    return sigmoid_focal(logits, targets, weights, alpha=None, gamma=0)


def weighted_softmax(logits: Any, targets: Any, weights: Any, *, logit_scale: float = 1.0) -> Any:
    """Returns the softmax cross entropy.

    Args:
      logits, targets, weights: see above; targets add up to 1, see
        `targets.assigner.with_background`.
      logit_scale: divisor of the logits.
    """
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=targets, logits=logits / logit_scale)
    return losses * weights


def smooth_l1(codes: Any, targets: Any, weights: Any, *, delta: float = 1.0) -> Any:
    """Returns smooth L1, or Huber's loss: half the square up to `delta`, a line beyond.

    Equation 3 of Fast R-CNN (https://arxiv.org/abs/1504.08083), with the API's `delta`.

    Args:
      codes, targets: `[batch, anchors, code]`.
      weights: `[batch, anchors]`.
      delta: difference beyond which the loss is linear.
    """
    distance = tf.abs(codes - targets)
    within = tf.minimum(distance, delta)
    return tf.reduce_sum(within * (distance - within / 2), axis=2) * weights
