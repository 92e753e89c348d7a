"""Points of ROC and precision-recall curves: at many thresholds, at one recall, at one precision.

Definitions of tf_slim, metrics/metric_ops.py; labels come first.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.collected import COLLECTIONS, check_in_range, collected
from tf_frame_legacy.slim.metrics.confusion import EPSILON, combine, count_at_thresholds, spread

_CURVE_EPSILON = 1e-6


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the points of a ROC or precision-recall curve.

    Args:
      labels: tensor of the predictions' shape, cast to booleans.
      predictions: numbers in [0, 1].
      weights: weight of each example.
      num_thresholds: number of thresholds, evenly spaced from 0 to 1.
      metrics_collections, updates_collections: collections of value and update.
      curve: `ROC`, of false positive rate and recall, or `PR`, of recall and precision.
      name: variable scope; None: `curve_points`, made unique.

    Returns:
      The points so far, `[num_thresholds, 2]`, and the operation that adds this batch.

    Raises:
      ValueError: another curve.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with tf.variable_scope(name, "curve_points", (labels, predictions, weights)):
        pairs = _counts(labels, predictions, num_thresholds, weights)
        values, updates = zip(*pairs, strict=True)
        update = tf.group(*updates)
        points = _points(curve, *values)
        return collected(points, update, metrics_collections, updates_collections)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the precision at the highest threshold that has at least a certain recall.

    Args:
      labels, predictions, weights, num_thresholds, metrics_collections, updates_collections: see
        `streaming_curve_points`.
      target_recall: the recall, from 0 to 1.
      name: variable scope; None: `precision_at_recall`, made unique.

    Returns:
      The value so far and the operation that adds this batch.

    Raises:
      ValueError: a recall out of range.
    """
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def precision(tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        del tn
        enough = tp / (tp + fn + EPSILON) >= target_recall
        last = tf.reduce_sum(tf.cast(enough, tf.int64)) - 1
        return (tp[last] + EPSILON) / (tp[last] + fp[last] + EPSILON)

    with tf.variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        pairs = _counts(labels, predictions, num_thresholds, weights)
        return combine(precision, pairs, metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> tuple[Any, Any]:
    """Computes the recall at the threshold with the precision that is nearest to a certain one.

    Args:
      labels, predictions, weights, num_thresholds, metrics_collections, updates_collections: see
        `streaming_curve_points`.
      precision: the precision, from 0 to 1.
      name: variable scope; None: `recall_at_precision`, made unique.
      strict_mode: whether the precision of the threshold must not be lower; 0 without such a one.

    Returns:
      The value so far and the operation that adds this batch.

    Raises:
      ValueError: a precision out of range.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    recall = functools.partial(_recall_at_precision, precision, strict_mode)
    with tf.variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        pairs = _counts(labels, predictions, num_thresholds, weights)
        return combine(recall, pairs, metrics_collections, updates_collections)


class PrecisionRecallData(NamedTuple):
    """Counts and rates at each threshold, `[thresholds]`, of the type of the predictions."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Counts at evenly spaced thresholds, in memory of examples plus thresholds.

    A prediction is positive from the threshold on, not only above it.

    Args:
      labels: bool tensor of the predictions' shape.
      predictions: numbers in [0, 1].
      weights: weight of each example.
      num_thresholds: number of thresholds from 0 to 1; None: 201.
      use_locking: whether updates lock the variables; None: they do.
      name: variable scope; None: `precision_recall_at_equal_thresholds`, made unique.

    Returns:
      The counts so far and the operation that adds this batch.

    Raises:
      TypeError: labels that are not bool.
    """
    num_thresholds = 201 if num_thresholds is None else num_thresholds
    tf.debugging.assert_type(labels, tf.bool)
    scope = "precision_recall_at_equal_thresholds"
    with tf.variable_scope(name, scope, (labels, predictions, weights)):
        predictions = check_in_range(predictions, *["predictions must be in [0, 1]"] * 2)
        predictions.shape.assert_is_compatible_with(labels.shape)
        bins = tf.cast(tf.floor(predictions * (num_thresholds - 1)), tf.int32)
        with tf.name_scope("variables"):
            counts = [
                tf.Variable(
                    tf.zeros([num_thresholds], tf.float64),
                    trainable=False,
                    collections=COLLECTIONS,
                    name=kind,
                )
                for kind in ("tp_buckets", "fp_buckets")
            ]
        share = tf.cast(1.0 if weights is None else weights, tf.float64)
        positive = tf.cast(labels, tf.float64)
        updates = [
            tf.scatter_add(
                counted,
                tf.reshape(bins, [-1]),
                tf.reshape(part * share, [-1]),
                use_locking is not False,
            )
            for counted, part in zip(counts, (positive, 1.0 - positive), strict=True)
        ]
        return _data_of_bins(*counts, dtype=predictions.dtype), tf.group(*updates)


def _data_of_bins(tp_bins: Any, fp_bins: Any, *, dtype: Any) -> PrecisionRecallData:
    tp, fp = (tf.cumsum(counted, reverse=True) for counted in (tp_bins, fp_bins))
    tn, fn = fp[0] - fp, tp[0] - tp
    precision, recall = (tp / tf.maximum(tf.cast(EPSILON, tf.float64), tp + x) for x in (fp, fn))
    thresholds = tf.linspace(0.0, 1.0, tp_bins.shape[0])
    values = (tp, fp, tn, fn, precision, recall, thresholds)
    return PrecisionRecallData(*(tf.cast(value, dtype) for value in values))


def _counts(labels: Any, predictions: Any, num_thresholds: int, weights: Any) -> Any:
    """Returns values and updates of true and false positives, and of true and false negatives."""
    counts = [
        getattr(tf.metrics, f"{kind}_at_thresholds")
        for kind in ("true_positives", "false_positives", "true_negatives", "false_negatives")
    ]
    return count_at_thresholds(counts, labels, predictions, spread(num_thresholds), weights)


def _points(curve: str, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
    recall = (tp + _CURVE_EPSILON) / (tp + fn + _CURVE_EPSILON)
    if curve == "ROC":
        return tf.stack([fp / (fp + tn + _CURVE_EPSILON), recall], axis=1)
    return tf.stack([recall, (tp + _CURVE_EPSILON) / (tp + fp + _CURVE_EPSILON)], axis=1)


def _recall_at_precision(precision: float, strict: bool, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
    del tn
    above = tp / (tp + fp + EPSILON) - precision
    # The inverse ranks small positive differences first, negative ones last.
    best = tf.argmax(1.0 / (above + EPSILON)) if strict else tf.argmin(tf.abs(above))
    recall = tp[best] / (tp[best] + fn[best] + EPSILON)
    return tf.where(above[best] >= 0, recall, 0.0) if strict else recall
