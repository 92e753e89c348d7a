"""Agreement of predictions and labels: covariance, correlation, Cohen's kappa.

`tf.compat.v1.metrics` has none of them. Definitions of tf_slim, metrics/metric_ops.py.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.metrics.collected import collected, zeros


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the unbiased covariance of predictions and labels.

    Batches are merged as in Chan, Golub and LeVeque 1979, "Updating formulae and
    a pairwise algorithm for computing sample variances".

    Args:
      predictions, labels: float tensors of one shape.
      weights: weight of each pair; broadcast to that shape.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `covariance`, made unique.

    Returns:
      The value so far, NaN for fewer than two pairs, and the operation that adds this batch.
    """
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        # Count, mean prediction, mean label, sum of the products of deviations.
        state = zeros([4], "moments")
        merged = tf.stack(_merged(tf.unstack(state), _moments(predictions, labels, weights)))
        value = _covariance(tf.convert_to_tensor(state))
        update = _covariance(tf.convert_to_tensor(tf.assign(state, merged)))
        return collected(value, update, metrics_collections, updates_collections)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes Pearson's correlation, the covariance divided by both standard deviations.

    Args:
      predictions, labels, weights, metrics_collections, updates_collections: see
        `streaming_covariance`.
      name: variable scope; None: `pearson_r`, made unique.

    Returns:
      The value so far, from -1 to 1, and the operation that adds this batch.
    """
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        both = streaming_covariance(predictions, labels, weights)
        first = streaming_covariance(predictions, predictions, weights, name="variance_predictions")
        second = streaming_covariance(labels, labels, weights, name="variance_labels")
        value, update = (
            covariance / (tf.sqrt(of_predictions) * tf.sqrt(of_labels))
            for covariance, of_predictions, of_labels in zip(both, first, second, strict=True)
        )
        return collected(value, update, metrics_collections, updates_collections)


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes Cohen's kappa, the agreement of two raters beyond chance; labels come first.

    Cohen 1960, "A coefficient of agreement for nominal scales": (p_o - p_e) / (1 - p_e).

    Args:
      labels, predictions_idx: classes `[examples]` or `[examples, 1]`.
      num_classes: number of classes.
      weights: weight of each example, `[examples]`.
      metrics_collections, updates_collections: collections of value and update.
      name: variable scope; None: `cohen_kappa`, made unique.

    Returns:
      The value so far, float64, and the operation that adds this batch.

    Raises:
      ValueError: fewer than two classes.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        table = tf.math.confusion_matrix(
            tf.reshape(labels, [-1]),
            tf.reshape(predictions_idx, [-1]),
            num_classes,
            dtype=tf.float64,
            weights=None if weights is None else tf.reshape(weights, [-1]),
        )
        counts = zeros([num_classes, num_classes], "counts", tf.float64)
        value = _kappa(tf.convert_to_tensor(counts))
        update = _kappa(tf.convert_to_tensor(tf.assign_add(counts, table)))
        return collected(value, update, metrics_collections, updates_collections)


def _moments(predictions: Any, labels: Any, weights: Any) -> list[Any]:
    """Returns count, both means, and the sum of the products of deviations, of one batch."""
    weights = tf.ones_like(labels) * (1.0 if weights is None else tf.cast(weights, labels.dtype))
    count = tf.reduce_sum(weights)
    sums = [tf.reduce_sum(values * weights) for values in (predictions, labels)]
    means = [tf.math.divide_no_nan(total, count) for total in sums]
    products = (predictions - means[0]) * (labels - means[1])
    return [count, *means, tf.reduce_sum(products * weights)]


def _merged(old: list[Any], new: list[Any]) -> list[Any]:
    count = old[0] + new[0]
    steps = [new[1] - old[1], new[2] - old[2]]
    share = tf.math.divide_no_nan(new[0], count)
    means = [old[1] + steps[0] * share, old[2] + steps[1] * share]
    return [count, *means, old[3] + new[3] + steps[0] * steps[1] * old[0] * share]


def _covariance(moments: Any) -> Any:
    count, products = moments[0], moments[3]
    return tf.where(count <= 1.0, float("nan"), products / (count - 1.0))


def _kappa(counts: Any) -> Any:
    total = tf.reduce_sum(counts)
    by_chance = tf.reduce_sum(tf.reduce_sum(counts, 0) * tf.reduce_sum(counts, 1))
    by_chance = tf.math.divide_no_nan(by_chance, total)
    return tf.math.divide_no_nan(tf.linalg.trace(counts) - by_chance, total - by_chance)
