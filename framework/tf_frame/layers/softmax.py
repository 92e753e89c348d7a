"""Softmax over the last dimension."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.sizes import last_dimension


@add_arg_scope
def softmax(logits: Any, scope: str | None = None) -> Any:
    """Turns logits into probabilities.

    Args:
      logits: `[..., classes]` of rank 2 or more, the number of classes known.
      scope: variable scope; "softmax" made unique when None.

    Returns:
      A tensor like `logits`, which sums to 1 over the classes.

    Raises:
      ValueError: the rank is less than 2, or the number of classes not known.
    """
    with tf.variable_scope(scope, "softmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        classes = last_dimension(logits.shape, min_rank=2)
        predictions = tf.nn.softmax(tf.reshape(logits, [-1, classes]))
        predictions = tf.reshape(predictions, tf.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions
