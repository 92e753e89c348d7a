"""Metrics under the names of tf_slim.metrics, for evaluation scripts for slim.

    names_to_values, names_to_updates = slim.metrics.aggregate_metric_map({
        "accuracy": slim.metrics.streaming_accuracy(predictions, labels),
        "recall_5": slim.metrics.streaming_recall_at_k(logits, labels, 5),
    })

A streaming metric is a pair: the value so far, and the operation that adds a batch and
returns the new value. Its variables are local variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.agreement import (
    cohen_kappa as cohen_kappa,
    streaming_covariance as streaming_covariance,
    streaming_pearson_correlation as streaming_pearson_correlation,
)
from tf_frame_legacy.slim.metrics.collected import (
    count as count,
    streaming_concat as streaming_concat,
)
from tf_frame_legacy.slim.metrics.confusion import (
    f1_score as f1_score,
    streaming_false_negative_rate as streaming_false_negative_rate,
    streaming_false_negative_rate_at_thresholds as streaming_false_negative_rate_at_thresholds,
    streaming_false_positive_rate as streaming_false_positive_rate,
    streaming_false_positive_rate_at_thresholds as streaming_false_positive_rate_at_thresholds,
)
from tf_frame_legacy.slim.metrics.curves import (
    precision_at_recall as precision_at_recall,
    precision_recall_at_equal_thresholds as precision_recall_at_equal_thresholds,
    recall_at_precision as recall_at_precision,
    streaming_curve_points as streaming_curve_points,
)
from tf_frame_legacy.slim.metrics.ranking import (
    auc_using_histogram as auc_using_histogram,
    auc_with_confidence_intervals as auc_with_confidence_intervals,
    streaming_dynamic_auc as streaming_dynamic_auc,
)
from tf_frame_legacy.slim.metrics.streaming import (
    sparse_recall_at_top_k as sparse_recall_at_top_k,
    streaming_accuracy as streaming_accuracy,
    streaming_auc as streaming_auc,
    streaming_false_negatives as streaming_false_negatives,
    streaming_false_negatives_at_thresholds as streaming_false_negatives_at_thresholds,
    streaming_false_positives as streaming_false_positives,
    streaming_false_positives_at_thresholds as streaming_false_positives_at_thresholds,
    streaming_mean as streaming_mean,
    streaming_mean_absolute_error as streaming_mean_absolute_error,
    streaming_mean_cosine_distance as streaming_mean_cosine_distance,
    streaming_mean_iou as streaming_mean_iou,
    streaming_mean_relative_error as streaming_mean_relative_error,
    streaming_mean_squared_error as streaming_mean_squared_error,
    streaming_mean_tensor as streaming_mean_tensor,
    streaming_percentage_less as streaming_percentage_less,
    streaming_precision as streaming_precision,
    streaming_precision_at_thresholds as streaming_precision_at_thresholds,
    streaming_recall as streaming_recall,
    streaming_recall_at_k as streaming_recall_at_k,
    streaming_recall_at_thresholds as streaming_recall_at_thresholds,
    streaming_root_mean_squared_error as streaming_root_mean_squared_error,
    streaming_sensitivity_at_specificity as streaming_sensitivity_at_specificity,
    streaming_sparse_average_precision_at_k as streaming_sparse_average_precision_at_k,
    streaming_sparse_average_precision_at_top_k,  # noqa: F401
    streaming_sparse_precision_at_k as streaming_sparse_precision_at_k,
    streaming_sparse_precision_at_top_k as streaming_sparse_precision_at_top_k,
    streaming_sparse_recall_at_k as streaming_sparse_recall_at_k,
    streaming_specificity_at_sensitivity as streaming_specificity_at_sensitivity,
    streaming_true_negatives as streaming_true_negatives,
    streaming_true_negatives_at_thresholds as streaming_true_negatives_at_thresholds,
    streaming_true_positives as streaming_true_positives,
    streaming_true_positives_at_thresholds as streaming_true_positives_at_thresholds,
)


def aggregate_metrics(*value_update_tuples: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Returns the list of values and the list of updates of metrics.

    Raises:
      ValueError: no metric was given.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: Mapping[str, tuple[Any, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the values by name and the updates by name of named metrics."""
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """Computes the share of correct predictions in a batch; not a streaming metric.

    Args:
      predictions: tensor of the type and shape of the labels.
      labels: booleans, integers or strings of any shape.
      weights: weight of each prediction; None: equal weights.
      name: name scope.

    Returns:
      A scalar float32 tensor.

    Raises:
      ValueError: labels of another type, or predictions of a different type.
    """
    if not (labels.dtype.is_integer or labels.dtype in (tf.bool, tf.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. "
            f"Given: predictions ({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with tf.name_scope(name, "accuracy", [predictions, labels]):
        right = tf.cast(tf.equal(predictions, labels), tf.float32)
        if weights is None:
            return tf.reduce_mean(right)
        weights = tf.cast(weights, tf.float32) * tf.ones_like(right)
        return tf.reduce_sum(right * weights) / tf.reduce_sum(weights)
