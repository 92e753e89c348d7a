"""Vectors of length 1."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Divides by the length along one axis.

    Args:
      inputs: a tensor of known rank.
      dim: the axis, from the front.
      epsilon: added to the square of the length.
      scope: variable scope; "UnitNorm" made unique when None.

    Raises:
      ValueError: the rank is not known, or there is no such axis.
    """
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if not rank:
            raise ValueError(f"The input rank must be known, and not 0; it is {rank}.")
        if not 0 <= dim < rank:
            raise ValueError(
                f"dim must be positive but smaller than the input rank; they are {dim} and {rank}."
            )
        squares = tf.reduce_sum(tf.square(inputs), dim, keepdims=True)
        return inputs / tf.sqrt(epsilon + squares)
