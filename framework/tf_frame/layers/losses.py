"""Losses with slim's names, arguments and values, for programs written for `slim.losses`.

Each loss is the mean over the elements with a weight other than 0, and is added to
`tf.GraphKeys.LOSSES`, or to the collection that an `arg_scope` of `add_loss` names.

Differences from `tf.compat.v1.losses`: predictions come before labels; weights may have fewer
dimensions than losses, so `[batch]` weighs whole examples; `hinge_loss` returns its elements;
`mean_pairwise_squared_error` also counts the pairs of an element with itself. Shapes that do not
match are a `ValueError`. `weights` are described in `compute_weighted_loss`; `scope` is a name
scope, by default TensorFlow's name of the loss, made unique. Source: tf_slim, losses/loss_ops.py.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope

__all__ = [
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """Averages losses over the elements with a weight other than 0.

    Args:
      losses: `[batch, ...]`, of known rank.
      weights: a scalar, `[batch]`, or the shape of more of the leading axes of `losses`; a
        trailing axis of size 1 is removed. `[1]` is a scalar, too (slim then divided by the
        number of elements of one example).
      scope: name scope; None: "weighted_loss", made unique.

    Returns:
      Scalar: the sum of losses times weights, divided by the number of elements with a weight
      other than 0; 0 without such elements.

    Raises:
      ValueError: the weights are None, a rank is unknown, or the shapes do not match.
    """
    losses = tf.convert_to_tensor(losses)
    if losses.shape.rank is None:
        raise ValueError("losses.get_shape().ndims cannot be None")
    weights = _at_rank(weights, losses.shape.rank)
    loss = tf.losses.compute_weighted_loss(losses, weights, scope=scope, loss_collection=None)
    return _add(loss)


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = tf.GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; does nothing if the collection is None.

    Args:
      loss: the loss, a tensor.
      loss_collection: name of the collection; None: none.
    """
    tf.losses.add_loss(loss, loss_collection)


# The same in slim and in TensorFlow.
get_losses = tf.losses.get_losses
get_regularization_loss = tf.losses.get_regularization_loss
get_regularization_losses = tf.losses.get_regularization_losses
get_total_loss = tf.losses.get_total_loss


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Computes the mean of `|predictions - labels|`.

    Args:
      predictions, labels: `[batch, ...]`, of one shape.
      weights: see `compute_weighted_loss`.
      scope: name scope; None: "absolute_difference", made unique.
    """
    weights = _at_rank(weights, _rank(predictions))
    return _add(tf.losses.absolute_difference(labels, predictions, weights, scope, None))


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Computes the mean of `(predictions - labels) ** 2`.

    Args:
      predictions, labels: `[batch, ...]`, of one shape.
      weights: see `compute_weighted_loss`.
      scope: name scope; None: "mean_squared_error", made unique.
    """
    weights = _at_rank(weights, _rank(predictions))
    return _add(tf.losses.mean_squared_error(labels, predictions, weights, scope, None))


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Any:
    """Computes the mean of `-labels * log(p + epsilon) - (1 - labels) * log(1 - p + epsilon)`.

    Args:
      predictions: `[batch, ...]`, the probabilities p.
      labels: of the same shape, from 0 to 1.
      weights: see `compute_weighted_loss`.
      epsilon: keeps the logarithm finite.
      scope: name scope; None: "log_loss", made unique.
    """
    weights = _at_rank(weights, _rank(predictions))
    return _add(tf.losses.log_loss(labels, predictions, weights, epsilon, scope, None))


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """Computes `max(0, 1 - logits * (2 * labels - 1))`.

    Args:
      logits: tensor of any shape; a value above 0 predicts label 1.
      labels: of the same shape, 0 or 1.
      scope: name scope; None: "hinge_loss", made unique.

    Returns:
      A tensor of the same shape, which is not added to a collection.
    """
    none = tf.losses.Reduction.NONE
    return tf.losses.hinge_loss(labels, logits, scope=scope, loss_collection=None, reduction=none)


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """Computes the mean of 1 minus the cosine of the angle between unit vectors.

    Args:
      predictions: `[batch, ...]`, of length 1 along `axis`.
      labels: of the same shape.
      axis: axis of the vectors.
      weights: see `compute_weighted_loss`; of size 1 along `axis`.
      scope: name scope; None: "cosine_distance_loss", made unique.
      dim: old name of `axis`.

    Raises:
      ValueError: neither or both of `axis` and `dim`, or the shapes do not match.
    """
    if axis is not None and dim is not None:
        raise ValueError(f"Cannot specify both 'axis' and 'dim'; got {axis} and {dim}.")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    weights = _at_rank(weights, _rank(predictions))
    return _add(tf.losses.cosine_distance(labels, predictions, axis, weights, scope, None))


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """Computes the mean cross entropy of independent classes.

    Args:
      logits: `[batch, classes]`.
      multi_class_labels: of the same shape, from 0 to 1.
      weights: see `compute_weighted_loss`.
      label_smoothing: labels become `labels * (1 - smoothing) + smoothing / 2`.
      scope: name scope; None: "sigmoid_cross_entropy_loss", made unique.
    """
    weights = _at_rank(weights, _rank(logits))
    arguments = (multi_class_labels, logits, weights, label_smoothing, scope, None)
    return _add(tf.losses.sigmoid_cross_entropy(*arguments))


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """Computes the mean cross entropy of mutually exclusive classes.

    Args:
      logits: `[batch, classes]`.
      onehot_labels: of the same shape; no gradient is computed for them.
      weights: a scalar, or `[batch]`; see `compute_weighted_loss`.
      label_smoothing: labels become `labels * (1 - smoothing) + smoothing / classes`.
      scope: name scope; None: "softmax_cross_entropy_loss", made unique.
    """
    weights = _at_rank(weights, _rank(logits) - 1)
    arguments = (onehot_labels, logits, weights, label_smoothing, scope, None)
    return _add(tf.losses.softmax_cross_entropy(*arguments))


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Computes the mean cross entropy of mutually exclusive classes, from class indices.

    Args:
      logits: `[batch, classes]`.
      labels: `[batch]` or `[batch, 1]`, from 0 to `classes - 1`; int32 or int64.
      weights: a scalar, `[batch]` or `[batch, 1]`; see `compute_weighted_loss`.
      scope: name scope; None: "sparse_softmax_cross_entropy_loss", made unique.
    """
    weights = _at_rank(weights, 1)
    labels = tf.reshape(labels, [tf.shape(labels)[0]])
    return _add(tf.losses.sparse_softmax_cross_entropy(labels, logits, weights, scope, None))


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Compares the differences between the elements of an example.

    With the `n` elements of `d = predictions - labels` of an example, the loss is the sum over
    examples of `2 * weight * (sum(d ** 2) / n - sum(d) ** 2 / n ** 2)`, that is the mean of
    `(d[i] - d[j]) ** 2` over all n ** 2 pairs. `tf.compat.v1.losses` omits the n pairs of an
    element with itself.

    Args:
      predictions, labels: `[batch, ...]`, of one shape.
      weights: a scalar, or `[batch]`.
      scope: name scope; None: "mean_pairwise_squared_error", made unique.

    Raises:
      ValueError: the shapes do not match, or the rank is unknown.
    """
    with tf.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = tf.cast(_at_rank(weights, 1), tf.float32)
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        differences = tf.cast(predictions, tf.float32) - tf.cast(labels, tf.float32)
        axes = list(range(1, _rank(differences)))
        mean = tf.reduce_mean(differences, axes)
        mean_square = tf.reduce_mean(tf.square(differences), axes)
        # A weight of 0 also removes losses that are not finite.
        losses = tf.math.multiply_no_nan(2 * (mean_square - tf.square(mean)), weights)
        loss = tf.reduce_sum(losses, name="value")
        return _add(loss)


def _add(loss: Any) -> Any:
    """Calls `add_loss`, with the collection that an `arg_scope` sets; returns the loss."""
    add_loss(loss)
    return loss


def _rank(values: Any) -> int:
    rank = tf.convert_to_tensor(values).shape.rank
    if rank is None:
        raise ValueError(f"the rank of {values} must be known")
    return int(rank)


def _at_rank(weights: Any, rank: int) -> Any:
    """Gives weights the rank of the losses, by trailing axes of size 1."""
    if weights is None:
        raise ValueError("weights must not be None; pass 1.0 for equal weights")
    weights = tf.convert_to_tensor(weights)
    if weights.shape.rank is None:
        raise ValueError("weights.get_shape().ndims cannot be None")
    last_size = weights.shape.as_list()[1:][-1:]
    # An unknown size must be 1 if the losses have no axis for it.
    if last_size == [1] or (last_size == [None] and weights.shape.rank > rank):
        weights = tf.squeeze(weights, [-1])
    if weights.shape.rank == 0:
        return weights
    for _ in range(rank - weights.shape.rank):
        weights = tf.expand_dims(weights, -1)
    return weights
