"""Class numbers as vectors."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Makes a vector of each class number, with `on_value` at its place.

    Args:
      labels: `[batch]`, or another shape, of whole numbers.
      num_classes: size of a vector; other numbers get no `on_value`.
      on_value: at the place of the class.
      off_value: elsewhere.
      outputs_collections: collections that the outputs are added to.
      scope: name scope; "OneHotEncoding" made unique when None.

    Returns:
      `[batch, num_classes]`, of the type of `on_value`.
    """
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as name:
        labels = tf.convert_to_tensor(labels)
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, name, outputs)
