"""Rates and the F1 score, from the four counts of a confusion matrix.

`tf.compat.v1.metrics` has the counts, but not these metrics of slim's evaluation scripts. Same
definitions as tf_slim, metrics/metric_ops.py and metrics/classification.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.collected import as_tensor, collected

__all__ = [
    "f1_score",
    "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds",
]

# Added to denominators; also moves the first and last threshold outside of [0, 1].
_EPSILON = 1e-7

_Count = Callable[..., tuple[Any, Any]]


def streaming_false_positive_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the share of negatives that are predicted positive, FP / (FP + TN); 0 without any.

    Args:
      predictions, labels: tensors of one shape, cast to booleans.
      weights: weight of each example.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `false_positive_rate`, made unique.

    Returns:
      The value so far and the operation that adds this batch.
    """
    counts = (tf.metrics.false_positives, tf.metrics.true_negatives)
    with tf.variable_scope(name, "false_positive_rate", (predictions, labels, weights)):
        pairs = [count(labels, predictions, weights=weights) for count in counts]
        return _combined(_share, pairs, metrics_collections, updates_collections)


def streaming_false_negative_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the share of positives that are predicted negative, FN / (FN + TP); 0 without any.

    Args:
      predictions, labels, weights, metrics_collections, updates_collections: see
        `streaming_false_positive_rate`.
      name: variable scope; None: `false_negative_rate`, made unique.

    Returns:
      The value so far and the operation that adds this batch.
    """
    counts = (tf.metrics.false_negatives, tf.metrics.true_positives)
    with tf.variable_scope(name, "false_negative_rate", (predictions, labels, weights)):
        pairs = [count(labels, predictions, weights=weights) for count in counts]
        return _combined(_share, pairs, metrics_collections, updates_collections)


def streaming_false_positive_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes `streaming_false_positive_rate` for each threshold.

    Args:
      predictions: numbers in [0, 1], positive if above a threshold.
      labels: cast to booleans.
      thresholds: numbers in [0, 1].
      weights, metrics_collections, updates_collections: see
        `streaming_false_positive_rate`.
      name: variable scope; None: `false_positive_rate_at_thresholds`.

    Returns:
      Value and update, each `[thresholds]`.
    """
    counts = (tf.metrics.false_positives_at_thresholds, tf.metrics.true_negatives_at_thresholds)
    default = "false_positive_rate_at_thresholds"
    with tf.variable_scope(name, default, (predictions, labels, weights)):
        pairs = _at_thresholds(counts, labels, predictions, thresholds, weights)
        return _combined(_share, pairs, metrics_collections, updates_collections)


def streaming_false_negative_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes `streaming_false_negative_rate` for each threshold.

    Args:
      predictions, labels, thresholds, weights, metrics_collections,
        updates_collections: see `streaming_false_positive_rate_at_thresholds`.
      name: variable scope; None: `false_negative_rate_at_thresholds`.

    Returns:
      Value and update, each `[thresholds]`.
    """
    counts = (tf.metrics.false_negatives_at_thresholds, tf.metrics.true_positives_at_thresholds)
    default = "false_negative_rate_at_thresholds"
    with tf.variable_scope(name, default, (predictions, labels, weights)):
        pairs = _at_thresholds(counts, labels, predictions, thresholds, weights)
        return _combined(_share, pairs, metrics_collections, updates_collections)


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the maximum over thresholds of the F1 score, 2 P R / (P + R); labels come first.

    Args:
      labels: tensor of the predictions' shape, cast to booleans.
      predictions: numbers in [0, 1].
      weights: weight of each example.
      num_thresholds: number of thresholds, evenly spaced from 0 to 1.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `f1`, made unique.

    Returns:
      The value so far and the operation that adds this batch.
    """
    inner = [i / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
    thresholds = [-_EPSILON, *inner, 1.0 + _EPSILON]
    counts = (
        tf.metrics.true_positives_at_thresholds,
        tf.metrics.false_positives_at_thresholds,
        tf.metrics.false_negatives_at_thresholds,
    )
    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        pairs = _at_thresholds(counts, labels, predictions, thresholds, weights)
        return _combined(_best_f1, pairs, metrics_collections, updates_collections)


def _best_f1(true_positives: Any, false_positives: Any, false_negatives: Any) -> Any:
    precision = true_positives / (_EPSILON + true_positives + false_positives)
    recall = true_positives / (_EPSILON + true_positives + false_negatives)
    return tf.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))


def _share(counted: Any, others: Any) -> Any:
    return tf.math.divide_no_nan(counted, counted + others)


def _at_thresholds(
    counts: Sequence[_Count], labels: Any, predictions: Any, thresholds: Any, weights: Any
) -> list[tuple[Any, Any]]:
    given = as_tensor(labels), as_tensor(predictions), list(thresholds)
    return [count(*given, weights=weights) for count in counts]


def _combined(
    combine: Callable[..., Any],
    pairs: Sequence[tuple[Any, Any]],
    metrics_collections: Any,
    updates_collections: Any,
) -> tuple[Any, Any]:
    """Returns value and update of a function of several counts, and adds them to collections."""
    values, updates = zip(*pairs, strict=True)
    value, update = combine(*values), combine(*updates)
    return collected(value, update, metrics_collections, updates_collections)
