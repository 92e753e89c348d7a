"""Maxout, https://arxiv.org/abs/1302.4389."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Takes the maximum of each of several groups of features.

    Args:
      inputs: such as `[batch, channels]`; the size of `axis` known.
      num_units: number of groups; each has neighbouring features.
      axis: of the features.
      scope: variable scope; "MaxOut" made unique when None.

    Returns:
      A tensor with `num_units` features in the place of all.

    Raises:
      ValueError: the groups do not divide the features.
    """
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        known, sizes = inputs.shape.as_list(), tf.shape(inputs)
        if known[axis] is None or known[axis] % num_units:
            raise ValueError(
                f"number of features({known[axis]}) is not a multiple of num_units({num_units})"
            )
        axis %= len(known)
        shape = [sizes[each] if size is None else size for each, size in enumerate(known)]
        shape[axis : axis + 1] = [num_units, known[axis] // num_units]
        return tf.reduce_max(tf.reshape(inputs, shape), axis + 1)
