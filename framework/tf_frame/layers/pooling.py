"""Pooling over space."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def global_average_pool(inputs: Any, *, keep_dims: bool = True, scope: str = "AvgPool") -> Any:
    """Averages over height and width.

    Args:
      inputs: `[batch, height, width, channels]`; the sizes may be unknown.
      keep_dims: whether height and width stay, as 1.
      scope: name of the op.

    Returns:
      `[batch, 1, 1, channels]`, or `[batch, channels]` without `keep_dims`.
    """
    return tf.reduce_mean(inputs, axis=[1, 2], keepdims=keep_dims, name=scope)
