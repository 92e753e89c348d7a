"""Losses of box codes, `[batch, anchors]`: the sum over the code of each anchor."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def smooth_l1(codes: Any, targets: Any, weights: Any, *, delta: float = 1.0) -> Any:
    """Smooth L1, or Huber's loss: half the square up to `delta`, a line of slope `delta` beyond.

    Equation 3 of Fast R-CNN (https://arxiv.org/abs/1504.08083), with `delta` as in the object
    detection API (tensorflow/models, research/object_detection/core/losses.py).

    Args:
      codes, targets: `[batch, anchors, code]`.
      weights: `[batch, anchors]`.
      delta: difference from which the loss is a line.
    """
    distance = tf.abs(codes - targets)
    within = tf.minimum(distance, delta)
    return tf.reduce_sum(within * (distance - within / 2), axis=2) * weights
