"""The metrics of `tf.compat.v1.metrics` as slim's streaming metrics: predictions before labels.

Names and order of arguments are the same as in tf_slim, metrics/metric_ops.py, so calls by position
keep their meaning.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.collected import as_tensor

Metric = Callable[..., tuple[Any, Any]]


def _predictions_first(metric: Metric, name: str = "") -> Metric:
    """Returns a metric of labels and predictions, with these two arguments exchanged.

    Args:
      metric: a metric of `tf.compat.v1.metrics`.
      name: slim's name; default: `streaming_` and the name of the metric.
    """
    labels, predictions, *further = inspect.signature(metric).parameters.values()

    @functools.wraps(metric)
    def streaming(predictions: Any, labels: Any, *values: Any, **named: Any) -> tuple[Any, Any]:
        # The metrics at thresholds do not convert their arguments.
        return metric(as_tensor(labels), as_tensor(predictions), *values, **named)

    streaming.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [predictions, labels, *further]
    )
    streaming.__name__ = streaming.__qualname__ = name or f"streaming_{metric.__name__}"
    return streaming


_swapped = _predictions_first

streaming_mean = tf.metrics.mean
streaming_mean_tensor = tf.metrics.mean_tensor
streaming_percentage_less = tf.metrics.percentage_below

streaming_accuracy = _swapped(tf.metrics.accuracy)
streaming_auc = _swapped(tf.metrics.auc)
streaming_precision = _swapped(tf.metrics.precision)
streaming_recall = _swapped(tf.metrics.recall)
streaming_true_positives = _swapped(tf.metrics.true_positives)
streaming_true_negatives = _swapped(tf.metrics.true_negatives)
streaming_false_positives = _swapped(tf.metrics.false_positives)
streaming_false_negatives = _swapped(tf.metrics.false_negatives)
streaming_mean_iou = _swapped(tf.metrics.mean_iou)
streaming_mean_absolute_error = _swapped(tf.metrics.mean_absolute_error)
streaming_mean_relative_error = _swapped(tf.metrics.mean_relative_error)
streaming_mean_squared_error = _swapped(tf.metrics.mean_squared_error)
streaming_root_mean_squared_error = _swapped(tf.metrics.root_mean_squared_error)
streaming_mean_cosine_distance = _swapped(tf.metrics.mean_cosine_distance)
streaming_precision_at_thresholds = _swapped(tf.metrics.precision_at_thresholds)
streaming_recall_at_thresholds = _swapped(tf.metrics.recall_at_thresholds)
streaming_true_positives_at_thresholds = _swapped(tf.metrics.true_positives_at_thresholds)
streaming_true_negatives_at_thresholds = _swapped(tf.metrics.true_negatives_at_thresholds)
streaming_false_positives_at_thresholds = _swapped(tf.metrics.false_positives_at_thresholds)
streaming_false_negatives_at_thresholds = _swapped(tf.metrics.false_negatives_at_thresholds)
streaming_sensitivity_at_specificity = _swapped(tf.metrics.sensitivity_at_specificity)
streaming_specificity_at_sensitivity = _swapped(tf.metrics.specificity_at_sensitivity)

streaming_sparse_recall_at_k = _swapped(tf.metrics.recall_at_k, "streaming_sparse_recall_at_k")
streaming_sparse_precision_at_k = _swapped(
    tf.metrics.precision_at_k, "streaming_sparse_precision_at_k"
)
streaming_sparse_average_precision_at_k = _swapped(
    tf.metrics.average_precision_at_k, "streaming_sparse_average_precision_at_k"
)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """Computes the share of examples with their class among the k best predictions.

    Args:
      predictions: scores `[batch, classes]`.
      labels: classes `[batch]`.
      k: number of best predictions.
      weights: weight of each example, `[batch]`.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `recall_at_K`.
    """
    hits = tf.cast(tf.nn.in_top_k(predictions, labels, k), tf.float32)
    name = name or f"recall_at_{k}"
    return streaming_mean(hits, weights, metrics_collections, updates_collections, name)


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """Computes the share of predicted classes that are correct.

    Args:
      top_k_predictions: predicted classes `[..., k]`.
      labels: correct classes `[..., number of labels]`, dense or sparse.
      class_id: the only class to count; None: all classes.
      weights, metrics_collections, updates_collections, name: see `streaming_recall_at_k`.
    """
    return tf.metrics.precision_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """Computes the share of correct classes that are predicted; labels come first.

    See `streaming_sparse_precision_at_top_k` for the arguments.
    """
    return tf.metrics.recall_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """Computes the average precision of the k predicted classes, the best one first.

    Args:
      top_k_predictions: different classes `[..., k]`; k is known.
      labels: correct classes, int64 `[..., number of labels]`, dense or sparse.
      weights, metrics_collections, updates_collections, name: see `streaming_recall_at_k`.

    Raises:
      ValueError: k is unknown.
    """
    k = tf.convert_to_tensor(top_k_predictions).shape.as_list()[-1]
    if k is None:
        raise ValueError("the last dimension of top_k_predictions must be known")
    classes = tf.cast(top_k_predictions, tf.int64)
    right = labels.values if isinstance(labels, tf.SparseTensor) else tf.cast(labels, tf.int64)
    count = tf.maximum(tf.reduce_max(classes), tf.reduce_max(right)) + 1
    # Scores that have these k classes in this order.
    ranks = tf.range(k, 0, -1, tf.float32)[:, None]
    scores = tf.reduce_max(tf.one_hot(classes, tf.cast(tf.maximum(count, k), tf.int32)) * ranks, -2)
    return tf.metrics.average_precision_at_k(
        labels, scores, k, weights, metrics_collections, updates_collections, name
    )
