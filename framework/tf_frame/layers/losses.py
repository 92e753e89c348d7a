"""Losses with the names, arguments and values of slim's.

Each is the mean over the elements whose weight is not 0, and is added to
`tf.GraphKeys.LOSSES`, or to what an `arg_scope` of `add_loss` says. They are those
of `tf.compat.v1.losses`, which came from them, but for this: predictions come before
labels; weights may have fewer dimensions than losses, `[batch]` weighs whole
examples; `hinge_loss` returns its elements, and `mean_pairwise_squared_error` counts
its pairs otherwise. Source: tf_slim, losses/loss_ops.py.
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
    """Averages losses over the elements whose weight is not 0.

    Args:
      losses: `[batch, ...]`, of known rank.
      weights: a scalar, `[batch]`, or further sizes of `losses` from the front; a
        last size of 1 is left out. `[1]` is a scalar, too, for which slim divided
        by the elements of one example.
      scope: name scope; "weighted_loss" made unique when None.

    Returns:
      Scalar: the sum of losses times weights, divided by the number of elements
      whose weight is not 0; 0 if there are none.

    Raises:
      ValueError: there are no weights, a rank is not known, or the shapes do not fit.
    """
    losses = tf.convert_to_tensor(losses)
    if losses.shape.rank is None:
        raise ValueError("losses.get_shape().ndims cannot be None")
    weights = _from_the_front(weights, losses.shape.rank)
    loss = tf.losses.compute_weighted_loss(losses, weights, scope=scope, loss_collection=None)
    return _added(loss)


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = tf.GraphKeys.LOSSES) -> None:
    """Adds a loss that was made elsewhere to a collection, if one is given."""
    tf.losses.add_loss(loss, loss_collection)


def get_losses(scope: str | None = None, loss_collection: str = tf.GraphKeys.LOSSES) -> list[Any]:
    """Returns the losses in a collection whose names begin with `scope`."""
    found: list[Any] = tf.losses.get_losses(scope, loss_collection)
    return found


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Returns the regularisation losses whose names begin with `scope`."""
    found: list[Any] = tf.losses.get_regularization_losses(scope)
    return found


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """Returns the sum of the regularisation losses, 0 without any, as a scalar."""
    return tf.losses.get_regularization_loss(scope, name)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """Returns the sum of all losses, a scalar.

    Args:
      add_regularization_losses: whether those of `REGULARIZATION_LOSSES` count, too.
      name: of the op.

    Raises:
      ValueError: there are none.
    """
    return tf.losses.get_total_loss(add_regularization_losses, name)


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Averages `|predictions - labels|`.

    Args:
      predictions: `[batch, ...]`.
      labels: of the same shape.
      weights: see `compute_weighted_loss`.
      scope: name scope; "absolute_difference" made unique when None.

    Raises:
      ValueError: the shapes do not fit.
    """
    weights = _from_the_front(weights, _rank(predictions))
    return _added(tf.losses.absolute_difference(labels, predictions, weights, scope, None))


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Averages `(predictions - labels) ** 2`; arguments as of `absolute_difference`."""
    weights = _from_the_front(weights, _rank(predictions))
    return _added(tf.losses.mean_squared_error(labels, predictions, weights, scope, None))


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Any:
    """Averages `-labels * log(p + epsilon) - (1 - labels) * log(1 - p + epsilon)`.

    Args:
      predictions: `[batch, ...]`, the probabilities p.
      labels: of the same shape, from 0 to 1.
      weights: see `compute_weighted_loss`.
      epsilon: keeps the logarithm finite.
      scope: name scope; "log_loss" made unique when None.

    Raises:
      ValueError: the shapes do not fit.
    """
    weights = _from_the_front(weights, _rank(predictions))
    return _added(tf.losses.log_loss(labels, predictions, weights, epsilon, scope, None))


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """Computes `max(0, 1 - logits * (2 * labels - 1))`.

    Args:
      logits: above 0 for a positive prediction.
      labels: of the same shape, 0 or 1.
      scope: name scope; "hinge_loss" made unique when None.

    Returns:
      A tensor of this shape. It is in no collection.

    Raises:
      ValueError: the shapes do not fit.
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
    """Averages 1 minus the cosine of the angle between vectors of length 1.

    Args:
      predictions: `[batch, ...]`, of length 1 along `axis`.
      labels: of the same shape.
      axis: along which the vectors lie.
      weights: see `compute_weighted_loss`; `axis` has size 1 for them.
      scope: name scope; "cosine_distance_loss" made unique when None.
      dim: the old name of `axis`.

    Raises:
      ValueError: no axis or two, or the shapes do not fit.
    """
    if axis is not None and dim is not None:
        raise ValueError(f"Cannot specify both 'axis' and 'dim'; got {axis} and {dim}.")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    weights = _from_the_front(weights, _rank(predictions))
    return _added(tf.losses.cosine_distance(labels, predictions, axis, weights, scope, None))


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """Averages the cross entropy of classes that do not exclude each other.

    Args:
      logits: `[batch, classes]`.
      multi_class_labels: of the same shape, from 0 to 1.
      weights: see `compute_weighted_loss`.
      label_smoothing: labels become `labels * (1 - smoothing) + smoothing / 2`.
      scope: name scope; "sigmoid_cross_entropy_loss" made unique when None.

    Raises:
      ValueError: the shapes do not fit.
    """
    weights = _from_the_front(weights, _rank(logits))
    loss = tf.losses.sigmoid_cross_entropy(
        multi_class_labels, logits, weights, label_smoothing, scope, None
    )
    return _added(loss)


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """Averages the cross entropy of classes of which one is right.

    Args:
      logits: `[batch, classes]`.
      onehot_labels: of the same shape; no gradient goes to them.
      weights: a scalar, or `[batch]`; see `compute_weighted_loss`.
      label_smoothing: labels become `labels * (1 - smoothing) + smoothing / classes`.
      scope: name scope; "softmax_cross_entropy_loss" made unique when None.

    Raises:
      ValueError: the shapes do not fit.
    """
    weights = _from_the_front(weights, _rank(logits) - 1)
    loss = tf.losses.softmax_cross_entropy(
        onehot_labels, logits, weights, label_smoothing, scope, None
    )
    return _added(loss)


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Averages the cross entropy of classes of which one is right, given its number.

    Args:
      logits: `[batch, classes]`.
      labels: `[batch]` or `[batch, 1]`, from 0 to `classes - 1`; int32 or int64.
      weights: a scalar, `[batch]` or `[batch, 1]`; see `compute_weighted_loss`.
      scope: name scope; "sparse_softmax_cross_entropy_loss" made unique when None.

    Raises:
      ValueError: the shapes do not fit.
    """
    weights = _from_the_front(weights, 1)
    labels = tf.reshape(labels, [tf.shape(labels)[0]])
    return _added(tf.losses.sparse_softmax_cross_entropy(labels, logits, weights, scope, None))


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """Compares how the elements of an example differ from each other.

    With `d = predictions - labels` and its `n` elements of an example it is the sum
    over examples of `2 * weight * (sum(d ** 2) / n - sum(d) ** 2 / n ** 2)`: the
    mean over all n ** 2 pairs of `(d[i] - d[j]) ** 2`. `tf.compat.v1.losses` leaves
    out the n pairs of an element with itself.

    Args:
      predictions: `[batch, ...]`.
      labels: of the same shape.
      weights: a scalar, or `[batch]`.
      scope: name scope; "mean_pairwise_squared_error" made unique when None.

    Raises:
      ValueError: the shapes do not fit, or the rank is not known.
    """
    with tf.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = tf.cast(_from_the_front(weights, 1), tf.float32)
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        differences = tf.cast(predictions, tf.float32) - tf.cast(labels, tf.float32)
        axes = list(range(1, _rank(differences)))
        mean = tf.reduce_mean(differences, axes)
        mean_square = tf.reduce_mean(tf.square(differences), axes)
        # Not 0 times what is not finite.
        of_examples = tf.math.multiply_no_nan(2 * (mean_square - tf.square(mean)), weights)
        loss = tf.reduce_sum(of_examples, name="value")
        return _added(loss)


def _added(loss: Any) -> Any:
    """Hands a loss to `add_loss`, for which an `arg_scope` may name another collection."""
    add_loss(loss)
    return loss


def _rank(values: Any) -> int:
    rank = tf.convert_to_tensor(values).shape.rank
    if rank is None:
        raise ValueError(f"the rank of {values} must be known")
    return int(rank)


def _from_the_front(weights: Any, rank: int) -> Any:
    """Gives weights the rank of the losses, by further sizes of 1 at the end."""
    if weights is None:
        raise ValueError("weights must not be None; 1.0 weighs all alike")
    weights = tf.convert_to_tensor(weights)
    if weights.shape.rank is None:
        raise ValueError("weights.get_shape().ndims cannot be None")
    last_sizes = weights.shape.as_list()[1:][-1:]
    # One that is not known must be 1 where there is no dimension left for it.
    if last_sizes == [1] or (last_sizes == [None] and weights.shape.rank > rank):
        weights = tf.squeeze(weights, [-1])
    if weights.shape.rank == 0:
        return weights
    for _ in range(rank - weights.shape.rank):
        weights = tf.expand_dims(weights, -1)
    return weights
