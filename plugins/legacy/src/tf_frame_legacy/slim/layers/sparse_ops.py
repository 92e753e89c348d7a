"""Sparse tensors of tf_slim, layers/sparse_ops.py: class indices of indicators, lengths of rows.

For examples with several labels.
"""

from __future__ import annotations

import numbers
from typing import Any

import tensorflow.compat.v1 as tf


def dense_to_sparse_tensor(dense_tensor: Any, ignore_value: Any = None) -> Any:
    """Converts a tensor to a `tf.SparseTensor` without the elements of one value.

    Args:
      dense_tensor: a tensor of known rank.
      ignore_value: the value to leave out; None: "", 0 or False, by type.
    """
    with tf.name_scope("DenseToSparseTensor"):
        dense_tensor = tf.convert_to_tensor(dense_tensor)
        indices = tf.where(_counts(dense_tensor, ignore_value))
        shape = tf.shape(dense_tensor, out_type=tf.int64)
        return tf.SparseTensor(indices, tf.gather_nd(dense_tensor, indices), shape)


def indicators_to_sparse_ids(
    indicators: Any, ignore_value: Any = None, dtype: Any = tf.int64
) -> Any:
    """Converts indicators of classes to the indices of the classes.

    Args:
      indicators: `[..., classes]`, 0 for the classes that an example does not have.
      ignore_value: the value instead of 0; None: "", 0 or False, by type.
      dtype: integer type of the indices.

    Returns:
      A `tf.SparseTensor` `[..., largest number of classes of an example]`, the indices of
      each example in ascending order and without gaps.

    Raises:
      ValueError: the type is no integer type.
    """
    if not tf.as_dtype(dtype).is_integer:
        raise ValueError(f"Invalid dtype {dtype} not integer.")
    with tf.name_scope(None, "indicators_to_sparse_ids", [indicators, ignore_value]):
        counts = _counts(tf.convert_to_tensor(indicators), ignore_value)
        ones = tf.cast(counts, tf.int64)
        present = tf.where(counts)
        # The place of a class is the number of classes before it.
        places = tf.gather_nd(tf.cumsum(ones, axis=-1, exclusive=True), present)
        longest = tf.maximum(tf.reduce_max(tf.reduce_sum(ones, axis=-1)), 0)
        shape = tf.shape(ones, out_type=tf.int64)
        return tf.SparseTensor(
            tf.concat([present[:, :-1], places[:, None]], axis=1),
            tf.cast(present[:, -1], dtype),
            tf.concat([shape[:-1], longest[None]], axis=0),
        )


def sparse_row_envelope(
    sparse_input: Any, row_axis: int = 0, col_axis: int = 1, name: str | None = None
) -> Any:
    """Returns the length of each row of a sparse tensor, up to its last element.

    Args:
      sparse_input: a `tf.SparseTensor` of rank 2 or more.
      row_axis, col_axis: the axis of the rows, and the axis within a row.
      name: name scope; None: "sparse_row_envelope".

    Returns:
      `[rows]`, int64; 0 for rows without elements.

    Raises:
      ValueError: an axis is no integer, or both are the same.
    """
    if not all(isinstance(axis, numbers.Integral) for axis in (row_axis, col_axis)):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with tf.name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows, columns = sparse_input.indices[:, row_axis], sparse_input.indices[:, col_axis]
        lengths = tf.unsorted_segment_max(columns + 1, rows, sparse_input.dense_shape[row_axis])
        # The maximum of nothing is the least number.
        return tf.maximum(lengths, 0)


def _counts(tensor: Any, ignore_value: Any) -> Any:
    """Returns for each element whether it differs from the ignored value."""
    if ignore_value is None:
        ignore_value = "" if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype()
    return tf.not_equal(tensor, tf.cast(ignore_value, tensor.dtype))
