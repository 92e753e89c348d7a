"""Penalties on weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf


def l2_regularizer(scale: float) -> Callable[[Any], Any] | None:
    """Makes the penalty `scale * sum(weights ** 2) / 2`.

    Args:
      scale: the weight decay, at least 0.

    Returns:
      A function from a variable to a scalar; None when `scale` is 0.

    Raises:
      ValueError: `scale` is negative.
    """
    if scale < 0:
        raise ValueError(f"the scale of an L2 penalty is {scale}; it must be 0 or more")
    if scale == 0:
        return None

    def penalty(weights: Any) -> Any:
        return tf.multiply(scale, tf.nn.l2_loss(weights), name="l2_regularizer")

    return penalty
