"""Areas under curves of all examples at once, or of histograms of their scores.

Definitions of tf_slim, metrics/metric_ops.py and metrics/histogram_ops.py; labels come first.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.collected import check_in_range, collected, streaming_concat
from tf_frame_legacy.slim.metrics.confusion import EPSILON


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> tuple[Any, Any]:
    """Computes the area under a curve with each prediction as a threshold; it keeps all examples.

    Args:
      labels: 0 or 1, of the predictions' shape.
      predictions: numbers of any range.
      curve: `ROC` or `PR`.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `dynamic_auc`, made unique.
      weights: weight of each example, at least 0.

    Returns:
      The area so far, float64, 0 if all labels are equal; and the operation that adds this batch.

    Raises:
      ValueError: another curve, or shapes that differ.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with tf.variable_scope(name, "dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        weights = tf.ones_like(labels) if weights is None else weights
        examples, update = _kept(labels, predictions, tf.cast(weights, tf.float64))
        area = _area(curve, *examples)
        return collected(area, update, metrics_collections, updates_collections)


class AucData(NamedTuple):
    """An area under a ROC curve, and the limits of its confidence interval; scalars."""

    auc: Any
    lower: Any
    upper: Any


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> tuple[AucData, Any]:
    """Computes the area under the ROC curve with its asymptotic normal confidence interval.

    DeLong et al. 1988, by the placement values of Sun and Xu 2014. It keeps all examples.

    Args:
      labels, predictions, weights, metrics_collections, updates_collections: see
        `streaming_dynamic_auc`; a batch with weights below 1 together is left out.
      alpha: level of the interval, between 0 and 1.
      logit_transformation: whether to compute the limits of the logit, so that they are in [0, 1].
      name: variable scope; None: `auc_with_confidence_intervals`, made unique.

    Returns:
      Area and limits so far, 0 if all labels of the batch are equal; and the operation that adds
      this batch.

    Raises:
      ValueError: a level out of range.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    scope = "auc_with_confidence_intervals"
    with tf.variable_scope(name, scope, [labels, predictions, weights]):
        labels.shape.assert_is_compatible_with(predictions.shape)
        weights = tf.ones_like(predictions) if weights is None else weights
        weights = tf.cast(weights, tf.float32) * tf.ones(tf.shape(predictions))
        heavy = tf.reduce_sum(weights) >= 1.0
        only = tf.fill([tf.size(weights)], heavy)
        examples, update = _kept(labels, predictions, weights, only=only)
        lowest, highest = tf.reduce_min(labels), tf.reduce_max(labels)
        valid = heavy & tf.equal(lowest, 0) & tf.equal(highest, 1)
        quantile = statistics.NormalDist().inv_cdf((1.0 + alpha) / 2.0)
        data = AucData(
            *(
                tf.where(valid, value, tf.zeros_like(value))
                for value in _interval(*examples, quantile=quantile, logit=logit_transformation)
            )
        )
        return collected(data, update, metrics_collections, updates_collections)


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the area under the ROC curve from histograms of the scores of each class.

    Bouckaert 2006, "Efficient AUC Learning Curve Calculation".

    Args:
      boolean_labels: bool `[examples]`.
      scores: numbers `[examples]`.
      score_range: lower and upper end of the scores; scores outside count in the last bins.
      nbins: number of bins.
      collections: collections of the variables; None: local variables.
      check_shape: whether to check the ranks in each step.
      name: variable scope; None: `auc_using_histogram`, made unique.

    Returns:
      The area so far, float32, and the operation that adds this batch.

    Raises:
      ValueError: labels that are not bool.
    """
    with tf.variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        labels, scores = tf.convert_to_tensor(boolean_labels), tf.convert_to_tensor(scores)
        if labels.dtype != tf.bool:
            raise ValueError(
                f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype}"
            )
        checks = [tf.assert_rank(values, 1) for values in (labels, scores)] if check_shape else []
        with tf.control_dependencies(checks):
            parts = [tf.boolean_mask(scores, mask) for mask in (labels, ~labels)]
        histograms = [
            tf.histogram_fixed_width(part, score_range, nbins, tf.int64) for part in parts
        ]
        with tf.variable_scope(None, "hist_accumulate"):
            counts = [
                tf.get_variable(
                    name,
                    [nbins],
                    tf.int64,
                    tf.zeros_initializer(),
                    collections=collections or [tf.GraphKeys.LOCAL_VARIABLES],
                    trainable=False,
                )
                for name in ("hist_true_acc", "hist_false_acc")
            ]
        pairs = zip(counts, histograms, strict=True)
        update = tf.group(*(counted.assign_add(new) for counted, new in pairs), name="update_op")
        return _area_of_histograms(*counts), update


def _kept(
    labels: Any, predictions: Any, weights: Any, only: Any = None
) -> tuple[Sequence[Any], Any]:
    """Returns labels, predictions and weights of all batches so far, and the update of the three.

    Args:
      only: `[examples]` bool, the examples of the batch to add; None: all.
    """
    messages = [f"labels must be 0 or 1, at least one is {sign}" for sign in ("<0", ">1")]
    labels = check_in_range(tf.cast(labels, tf.int64), *messages)
    parts = {"labels": labels, "preds": tf.cast(predictions, tf.float64), "weights": weights}
    flat = {name: tf.reshape(part, [-1]) for name, part in parts.items()}
    if only is not None:
        flat = {name: tf.boolean_mask(part, only) for name, part in flat.items()}
    pairs = [streaming_concat(part, name=f"concat_{name}") for name, part in flat.items()]
    values, updates = zip(*pairs, strict=True)
    return values, tf.group(*updates)


def _area(curve: str, labels: Any, predictions: Any, weights: Any) -> Any:
    """Returns the area by trapezoids between the points of different predictions; 0 if none."""
    order = tf.argsort(predictions, direction="DESCENDING", stable=True)
    _, group, counts = tf.unique_with_counts(tf.gather(predictions, order))
    del group
    ends = tf.pad(tf.cumsum(counts), [[1, 0]])
    weights, positive = tf.gather(weights, order), tf.gather(labels, order) > 0

    def summed(values: Any) -> Any:
        return tf.gather(tf.pad(tf.cumsum(values), [[1, 0]]), ends)

    right, marked = summed(tf.where(positive, weights, tf.zeros_like(weights))), summed(weights)
    recall, wrong = right / right[-1], (marked - right) / (marked - right)[-1]
    precision = tf.where(ends > 0, right / marked, tf.ones_like(right))
    across, up = (wrong, recall) if curve == "ROC" else (recall, precision)
    area = tf.reduce_sum((up[1:] + up[:-1]) / 2.0 * tf.abs(across[1:] - across[:-1]))
    one_class = tf.equal(right[-1], 0) | tf.equal(right[-1], marked[-1])
    return tf.where(one_class, tf.zeros_like(area), area)


def _interval(
    labels: Any, predictions: Any, weights: Any, *, quantile: float, logit: bool
) -> tuple[Any, Any, Any]:
    """Returns area, lower and upper limit; `quantile` of the standard normal distribution."""
    order = tf.argsort(predictions, stable=True)
    positive = tf.cast(tf.gather(labels, order), weights.dtype)
    weights = tf.gather(weights, order)
    _, group = tf.unique(tf.gather(predictions, order))
    sides = positive * weights, (1.0 - positive) * weights
    placements = [_placements(other, group) for other in reversed(sides)]
    totals = [tf.reduce_sum(side) for side in sides]
    ranks = placements[0], 1.0 - placements[1]
    areas = [
        tf.reduce_sum(side * rank) / (total + EPSILON)
        for side, rank, total in zip(sides, ranks, totals, strict=True)
    ]
    area = tf.where(totals[1] < totals[0], areas[0], areas[1])
    variances = [
        tf.reduce_sum(side * tf.square(rank - mean)) / (total - 1.0 + EPSILON) / (total + EPSILON)
        for side, rank, mean, total in zip(sides, ranks, areas, totals, strict=True)
    ]
    error = quantile * tf.sqrt(variances[0] + variances[1])
    if logit:
        rest = 1.0 - area + EPSILON
        middle, error = tf.log(area / rest), error / (area * rest)
        limits = [1.0 / (1.0 + tf.exp(-x) + EPSILON) for x in (middle - error, middle + error)]
    else:
        limits = [area - error, area + error]
    certain = tf.equal(area, 1.0) | tf.equal(area, 0.0)
    lower, upper = (tf.where(certain, area, limit) for limit in limits)
    return area, lower, upper


def _placements(weights: Any, group: Any) -> Any:
    """Returns the share of the other class below each example, half of it for equal ones."""
    totals = tf.math.segment_sum(weights, group)
    below = tf.cumsum(totals, exclusive=True) + totals / 2.0
    return tf.gather(below / (tf.reduce_sum(totals) + EPSILON), group)


def _area_of_histograms(true_counts: Any, false_counts: Any) -> Any:
    heights, widths = (
        tf.cast(tf.reverse(counts / tf.reduce_sum(counts), [0]), tf.float32)
        for counts in (tf.convert_to_tensor(true_counts), tf.convert_to_tensor(false_counts))
    )
    up = tf.pad(tf.cumsum(heights), [[1, 0]])
    return tf.reduce_sum(widths * (up[1:] + up[:-1]) / 2.0, name="auc")
