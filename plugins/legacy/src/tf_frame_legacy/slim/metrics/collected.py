"""Streaming count and concatenation, and the variables and collections of slim's metrics.

These two metrics are missing in `tf.compat.v1.metrics`. Same definitions as tf_slim,
metrics/metric_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

# The collections of the variables of tf.compat.v1.metrics.
COLLECTIONS = [tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES]


def zeros(shape: Sequence[int], name: str, dtype: Any = tf.float32) -> Any:
    """Creates a local variable that is initialised with zeros."""
    start = tf.zeros(shape, dtype)
    return tf.Variable(start, trainable=False, collections=COLLECTIONS, name=name)


def collected(
    value: Any, update: Any, metrics_collections: Any, updates_collections: Any
) -> tuple[Any, Any]:
    """Adds value and update of a metric to collections; returns both."""
    if metrics_collections:
        tf.add_to_collections(metrics_collections, value)
    if updates_collections:
        tf.add_to_collections(updates_collections, update)
    return value, update


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Counts the values, or sums their weights.

    Args:
      values: tensor of any shape.
      weights: weight of each value; broadcast to the shape of the values.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `count`, made unique.

    Returns:
      The count so far and the operation that adds this batch.
    """
    with tf.variable_scope(name, "count", (values, weights)):
        counted = zeros([], "count")
        weights = 1.0 if weights is None else tf.cast(weights, tf.float32)
        ones = tf.ones(tf.shape(values), tf.float32)
        update = tf.convert_to_tensor(tf.assign_add(counted, tf.reduce_sum(weights * ones)))
        value = tf.identity(counted, name="value")
        return collected(value, update, metrics_collections, updates_collections)


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Concatenates the values of all batches along an axis.

    Args:
      values: tensor of known rank, and of known sizes along the other axes.
      axis: axis of the concatenation.
      max_size: maximum size along the axis; None: no limit.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `streaming_concat`, made unique.

    Returns:
      The values so far, and the operation that adds this batch and returns the size
      along the axis.

    Raises:
      ValueError: the rank or a size is unknown, or the axis does not exist.
    """
    shape, axis = _checked_shape(values, axis)
    with tf.variable_scope(name, "streaming_concat", (values,)):
        empty = [0 if n == axis else size for n, size in enumerate(shape)]
        grown = [None if n == axis else size for n, size in enumerate(shape)]
        stored = tf.Variable(
            tf.zeros(empty, values.dtype),
            trainable=False,
            collections=COLLECTIONS,
            validate_shape=False,
            name="array",
            shape=tf.TensorShape(None),
        )
        value = tf.identity(stored, name="concat")
        value.set_shape(grown)
        longer = tf.concat([value, values], axis)
        if max_size is not None:
            size = tf.minimum(max_size, tf.shape(longer)[axis])
            longer = tf.gather(longer, tf.range(size), axis=axis)
        with tf.control_dependencies([tf.assign(stored, longer, validate_shape=False).op]):
            update = tf.identity(tf.shape(longer)[axis], name="update")
        return collected(value, update, metrics_collections, updates_collections)


def _checked_shape(values: Any, axis: int) -> tuple[list[int | None], int]:
    """Returns the static shape, and the axis counted from the front."""
    if values.shape.ndims is None:
        raise ValueError("`values` must have known statically known rank")
    rank = values.shape.ndims
    if not -rank <= axis < rank:
        raise ValueError(f"axis = {axis} not in [0, {rank})")
    shape, axis = values.shape.as_list(), axis % rank
    if any(size is None for n, size in enumerate(shape) if n != axis):
        raise ValueError(
            "all dimensions of `values` other than the dimension to concatenate along must have "
            "statically known size"
        )
    return shape, axis


def check_in_range(values: Any, too_low: str, too_high: str) -> Any:
    """Returns the values behind a check, in each step, that they are in [0, 1].

    Args:
      too_low, too_high: messages of the errors.
    """
    low, high = (tf.cast(limit, values.dtype) for limit in (0, 1))
    checks = [
        tf.assert_greater_equal(values, low, message=too_low),
        tf.assert_less_equal(values, high, message=too_high),
    ]
    with tf.control_dependencies(checks):
        return tf.identity(values)


def as_tensor(values: Any) -> Any:
    """Makes a tensor of a list, tuple or array; tensors, also sparse ones, stay as they are."""
    return tf.convert_to_tensor(values) if isinstance(values, list | tuple | np.ndarray) else values
