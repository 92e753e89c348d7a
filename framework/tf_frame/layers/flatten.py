"""From feature maps to vectors."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """Makes one vector of each example.

    Args:
      inputs: `[batch, ...]`, of rank 2 or more (one of rank 1 gets columns of size 1).
      outputs_collections: collections that the outputs are added to.
      scope: name scope; "Flatten" made unique when None.

    Returns:
      `[batch, size]`; the size is known if all sizes but the batch are.

    Raises:
      ValueError: the rank is not known.
    """
    with tf.name_scope(scope, "Flatten", [inputs]) as name:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank is None:
            raise ValueError(f"flatten needs inputs of known rank; that of {inputs.name} is not")
        outputs = tf.reshape(inputs, _flat_shape(inputs))
        outputs.set_shape([inputs.shape[0], _size(inputs)])
        return collect_named_outputs(outputs_collections, name, outputs)


def _size(inputs: Any) -> int | None:
    """Elements of an example, if known."""
    sizes = inputs.shape[1:]
    return math.prod(sizes.as_list()) if sizes.is_fully_defined() else None


def _flat_shape(inputs: Any) -> Any:
    size, batch = _size(inputs), inputs.shape.as_list()[0]
    # Only one size may be left to be found, and with an empty batch none can be.
    if size is not None:
        return [batch if batch is not None else tf.shape(inputs)[0], size]
    return [tf.shape(inputs)[0], tf.reduce_prod(tf.shape(inputs)[1:])]
