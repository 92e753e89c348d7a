"""Helpers for gradients that may be dense tensors, `tf.IndexedSlices` or None.

With them a transform needs no case distinction, and sparse gradients, for example of large
embeddings, stay sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GradsAndVars = list[tuple[Any, Any]]


def gradient_values(gradient: Any) -> Any:
    """Returns the values of a gradient: the gradient itself, or the slices of a sparse one."""
    import tensorflow.compat.v1 as tf

    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def on_values(gradient: Any, change: Callable[[Any], Any]) -> Any:
    """Applies a function to the values of a gradient; None stays None.

    Args:
      gradient: dense, sparse or None. A sparse gradient may have several slices of one
        index; `change` gets the slices, not their sum.
      change: maps a tensor to a tensor of the same shape.
    """
    import tensorflow.compat.v1 as tf

    if isinstance(gradient, tf.IndexedSlices):
        values = change(gradient.values)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return None if gradient is None else change(gradient)


def multiplied(gradient: Any, factor: Any) -> Any:
    """Multiplies a gradient by a number or scalar tensor; None stays None."""
    import tensorflow.compat.v1 as tf

    return on_values(gradient, lambda values: values * tf.cast(factor, values.dtype))


def dense(gradient: Any, variable: Any) -> Any:
    """Converts a sparse gradient to a tensor of the variable's shape.

    Unlike TensorFlow's own conversion, this does not need the gradient's dense shape.
    """
    import tensorflow.compat.v1 as tf

    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows = tf.shape(variable)[0]
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)
