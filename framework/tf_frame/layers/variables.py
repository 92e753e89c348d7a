"""Variables that belong to a model, as opposed to an optimizer or a counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def model_variable(
    name: str,
    shape: Sequence[int],
    *,
    initializer: Any,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    dtype: Any = tf.float32,
) -> Any:
    """Gets or creates a variable and lists it in `MODEL_VARIABLES`.

    The penalty goes to `REGULARIZATION_LOSSES` only when the variable is
    created: several clones that share it pay once.

    Args:
      name: name within the current variable scope.
      shape: its shape, fully known.
      initializer: an initializer as `get_variable` takes it.
      regularizer: maps the variable to a scalar penalty, or None.
      trainable: whether the optimizer may change it.
      dtype: its type.

    Returns:
      The variable.
    """
    return tf.get_variable(
        name,
        shape=list(shape),
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES],
    )
