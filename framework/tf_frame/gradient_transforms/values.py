"""Gradients as optimizers give them: dense, `tf.IndexedSlices`, or None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GradsAndVars = list[tuple[Any, Any]]


def values_of(gradient: Any) -> Any:
    """The numbers of a gradient: itself, or the slices of a sparse one."""
    import tensorflow.compat.v1 as tf

    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def with_values(gradient: Any, values: Any) -> Any:
    """A gradient with other numbers, sparse where it was; indices and shape are kept."""
    import tensorflow.compat.v1 as tf

    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values


def on_values(gradient: Any, change: Callable[[Any], Any]) -> Any:
    """Changes the numbers of a gradient; None stays None.

    Args:
      gradient: dense, sparse or None. An index may stand in a sparse one
        several times; `change` then sees each slice by itself, not their sum.
      change: maps a tensor to one of the same shape.
    """
    if gradient is None:
        return None
    return with_values(gradient, change(values_of(gradient)))


def dense(gradient: Any, variable: Any) -> Any:
    """A sparse gradient as a tensor of the variable's shape; a dense one as it is.

    It need not know its dense shape, which TensorFlow's own conversion asks for.
    """
    import tensorflow.compat.v1 as tf

    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows = tf.shape(variable)[0]
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)
