"""Rates and the F1 score, from the four counts of a confusion matrix.

`tf.compat.v1.metrics` has the counts, but not these metrics of slim's evaluation scripts. Same
definitions as tf_slim, metrics/metric_ops.py and metrics/classification.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.collected import as_tensor, collected

# Added to denominators; also moves the first and last threshold outside of [0, 1].
EPSILON = 1e-7

_Metric = Callable[..., tuple[Any, Any]]


def _make_rate(wrong: str, right: str, name: str, description: str) -> _Metric:
    """Returns the metric `wrong / (wrong + right)` of two counts in `tf.compat.v1.metrics`."""
    counts = [getattr(tf.metrics, wrong), getattr(tf.metrics, right)]

    def rate(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> tuple[Any, Any]:
        with tf.variable_scope(name, default, (predictions, labels, weights)):
            pairs = [count(labels, predictions, weights=weights) for count in counts]
            return combine(_share, pairs, metrics_collections, updates_collections)

    default = name
    return _describe(
        rate,
        f"""Computes the share of {description}; 0 without any.

    Args:
      predictions, labels: tensors of one shape, cast to booleans.
      weights: weight of each example.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `{name}`, made unique.

    Returns:
      The value so far and the operation that adds this batch.
    """,
        f"streaming_{name}",
    )


def _make_rate_at_thresholds(wrong: str, right: str, name: str) -> _Metric:
    """Returns the metric of `_make_rate` for each of several thresholds."""
    counts = [getattr(tf.metrics, f"{kind}_at_thresholds") for kind in (wrong, right)]

    def rate(
        predictions: Any,
        labels: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> tuple[Any, Any]:
        with tf.variable_scope(name, default, (predictions, labels, weights)):
            pairs = count_at_thresholds(counts, labels, predictions, thresholds, weights)
            return combine(_share, pairs, metrics_collections, updates_collections)

    default = f"{name}_at_thresholds"
    return _describe(
        rate,
        f"""Computes `streaming_{name}` for each threshold; value and update are `[thresholds]`.

    Args:
      predictions: numbers in [0, 1], positive if above a threshold.
      labels: cast to booleans.
      thresholds: numbers in [0, 1].
      weights, metrics_collections, updates_collections: see `streaming_{name}`.
      name: variable scope; None: `{default}`.
    """,
        f"streaming_{default}",
    )


def _describe(metric: _Metric, doc: str, name: str) -> _Metric:
    metric.__doc__ = doc
    metric.__name__ = metric.__qualname__ = name
    return metric


_POSITIVE = ("false_positives", "true_negatives", "false_positive_rate")
_NEGATIVE = ("false_negatives", "true_positives", "false_negative_rate")
streaming_false_positive_rate = _make_rate(*_POSITIVE, "negatives that are predicted positive")
streaming_false_negative_rate = _make_rate(*_NEGATIVE, "positives that are predicted negative")
streaming_false_positive_rate_at_thresholds = _make_rate_at_thresholds(*_POSITIVE)
streaming_false_negative_rate_at_thresholds = _make_rate_at_thresholds(*_NEGATIVE)


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
    counts = (
        tf.metrics.true_positives_at_thresholds,
        tf.metrics.false_positives_at_thresholds,
        tf.metrics.false_negatives_at_thresholds,
    )
    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        pairs = count_at_thresholds(counts, labels, predictions, spread(num_thresholds), weights)
        return combine(_best_f1, pairs, metrics_collections, updates_collections)


def _best_f1(true_positives: Any, false_positives: Any, false_negatives: Any) -> Any:
    precision = true_positives / (EPSILON + true_positives + false_positives)
    recall = true_positives / (EPSILON + true_positives + false_negatives)
    return tf.reduce_max(2.0 * precision * recall / (precision + recall + EPSILON))


def _share(wrong: Any, right: Any) -> Any:
    return tf.math.divide_no_nan(wrong, wrong + right)


def spread(num_thresholds: int) -> list[float]:
    """Returns thresholds from 0 to 1, the first and the last a bit outside."""
    inner = [i / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
    return [-EPSILON, *inner, 1.0 + EPSILON]


def count_at_thresholds(
    counts: Sequence[_Metric], labels: Any, predictions: Any, thresholds: Any, weights: Any
) -> list[tuple[Any, Any]]:
    """Returns value and update of each count."""
    arguments = as_tensor(labels), as_tensor(predictions), list(thresholds)
    return [count(*arguments, weights=weights) for count in counts]


def combine(
    function: Callable[..., Any],
    pairs: Sequence[tuple[Any, Any]],
    metrics_collections: Any,
    updates_collections: Any,
) -> tuple[Any, Any]:
    """Returns value and update of a function of several counts, and adds them to collections."""
    values, updates = zip(*pairs, strict=True)
    value, update = function(*values), function(*updates)
    return collected(value, update, metrics_collections, updates_collections)
