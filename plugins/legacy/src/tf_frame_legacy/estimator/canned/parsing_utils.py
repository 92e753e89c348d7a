"""The features, label and weight of canned estimators, for `tf.parse_example`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Returns name -> feature to parse, for a classifier.

    Args:
      feature_columns: the columns of the model.
      label_key: name of the label.
      label_dtype: type of the label: int64, or string with a vocabulary, or float32.
      label_default: the label of examples without one; None: an error.
      weight_column: name of the weight, or a numeric column.

    Raises:
      ValueError: label or weight is a feature, or a column has another type.
    """
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Returns name -> feature to parse, for a regressor; see `classifier_parse_example_spec`."""
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def _spec(columns: Iterable[Any], label_key: str, label: Any, weight_column: Any) -> dict[str, Any]:
    spec: dict[str, Any] = tf.feature_column.make_parse_example_spec(columns)
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not hasattr(weight_column, "normalizer_fn"):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given: "
            f"{weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(f"weight_column should not be used as feature: {weight_column.key}")
    return {**spec, **tf.feature_column.make_parse_example_spec([weight_column])}
