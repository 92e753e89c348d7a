"""Checks of labels, logits, weights and loss functions that heads are given.

Static shapes raise ValueError; shapes that are known at run time only raise InvalidArgumentError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.argument_checks import argument_names, called_with

_NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Check that the data has the label, and that "
    "input_fn returns labels."
)
_REDUCTIONS = {
    # The names of Keras, which the heads of tf.estimator have.
    "auto": tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    "sum_over_batch_size": tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    "sum": tf.losses.Reduction.SUM,
}


def checked_reduction(reduction: str) -> str:
    """Returns a reduction as tf.losses spells it; a ValueError for NONE and unknown ones."""
    reduction = _REDUCTIONS.get(reduction, reduction)
    if reduction == tf.losses.Reduction.NONE or reduction not in tf.losses.Reduction.all():
        raise ValueError(f"Invalid loss_reduction: {reduction}")
    return reduction


def checked_thresholds(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    """Returns thresholds as a tuple; a ValueError for a threshold outside of (0, 1)."""
    chosen = tuple(thresholds or ())
    if not all(0.0 < threshold < 1.0 for threshold in chosen):
        raise ValueError(f"thresholds not in (0, 1): {chosen}.")
    return chosen


def check_vocabulary(vocabulary: Any, n_classes: int | None = None) -> None:
    """Raises a ValueError for a vocabulary that is no list, or has another number of classes."""
    if vocabulary is None:
        return
    if not isinstance(vocabulary, list | tuple):
        raise ValueError(
            f"label_vocabulary should be a list or a tuple. Given type: {type(vocabulary)}"
        )
    if n_classes is not None and len(vocabulary) != n_classes:
        raise ValueError(
            f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(vocabulary)}"
        )


def check_loss_fn(loss_fn: Callable[..., Any] | None) -> None:
    """Raises a ValueError for a loss function without `labels` and `logits`, or with others."""
    if loss_fn is None:
        return
    names = argument_names(loss_fn)
    for required in ("labels", "logits"):
        if required not in names:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
    invalid = sorted(set(names) - {"labels", "logits", "features", "loss_reduction"})
    if invalid:
        raise ValueError(f"loss_fn has unexpected args: {invalid}")


def called_loss_fn(
    loss_fn: Callable[..., Any], labels: Any, logits: Any, features: Any, dimension: int
) -> Any:
    """Returns the losses `[..., dimension]` of a user's loss function, with their shape checked."""
    losses = called_with(loss_fn, labels=labels, logits=logits, features=features)
    expected = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0)
    text = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]."
    return _after([tf.assert_equal(tf.shape(losses), expected, message=text)], losses)


def checked_logits(logits: Any, dimension: int) -> Any:
    """Returns logits `[..., dimension]` as float32."""
    logits = tf.cast(logits, tf.float32)
    text = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    last = logits.shape[-1] if logits.shape.ndims else None
    if logits.shape.ndims in (0, 1) or last not in (None, dimension):
        raise ValueError(f"{text}, got {logits.shape}; expected dimension {dimension}.")
    if last is not None:
        return logits
    return _after([tf.assert_equal(dimension, tf.shape(logits)[-1], message=text)], logits)


def checked_labels(labels: Any, logits: Any, dimension: int) -> Any:
    """Returns dense labels `[..., dimension]` that match logits; adds a dimension of 1.

    Raises:
      ValueError: there are no labels, or they are sparse or of another shape.
    """
    if labels is None:
        raise ValueError(_NO_LABELS)
    if isinstance(labels, tf.SparseTensor):
        raise ValueError(
            f"SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, "
            f"..., DN, {dimension}]. Use tf.sparse_tensor_to_dense() in input_fn."
        )
    labels = tf.convert_to_tensor(labels)
    if labels.shape.ndims is not None and labels.shape.ndims == (logits.shape.ndims or 0) - 1:
        labels = tf.expand_dims(labels, -1)
    if labels.shape.ndims is not None and labels.shape[-1] not in (None, dimension):
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={dimension}. Received "
            f"{labels.shape[-1]}. Check n_classes of the estimator and the shape of the labels."
        )
    expected = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0)
    text = f"labels shape must be [D0, D1, ... DN, {dimension}]."
    return _after([tf.assert_equal(expected, tf.shape(labels), message=text)], labels)


def checked_range(labels: Any, n_classes: int, message: str | None = None) -> Any:
    """Returns labels, checked to be from 0 to `n_classes - 1`."""
    upper = tf.constant(n_classes - 1, labels.dtype)
    checks = [
        tf.assert_less_equal(labels, upper, message=message or "Labels must <= n_classes - 1"),
        tf.assert_non_negative(labels, message=message or "Labels must >= 0"),
    ]
    return _after(checks, labels)


def example_weights(
    features: Any, weight_column: Any, logits: Any, *, for_each_logit: bool = False
) -> Any:
    """Returns the weights of the examples, `[..., 1]`; 1.0 without a column.

    Args:
      features: name -> tensor.
      weight_column: name of a feature, or a numeric column.
      logits: `[..., dimension]`.
      for_each_logit: whether weights may have the shape of the logits.

    Raises:
      TypeError: the column is neither a name nor a numeric column.
    """
    if weight_column is None:
        return 1.0
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not hasattr(weight_column, "normalizer_fn"):
        raise TypeError(
            "Weight column must be either a string or a numeric column. Given type: "
            f"{type(weight_column)}."
        )
    weights = tf.convert_to_tensor(features[weight_column.key])
    if weights.shape.ndims == 1:
        weights = weights[:, None]
    if weight_column.normalizer_fn is not None:
        weights = weight_column.normalizer_fn(weights)
    if not (weights.dtype.is_floating or weights.dtype.is_integer):
        raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
    weights = tf.cast(weights, tf.float32)
    if weights.shape.ndims is not None and weights.shape.ndims == (logits.shape.ndims or 0) - 1:
        weights = tf.expand_dims(weights, -1)
    return _with_checked_shape(weights, tf.shape(logits), for_each_logit)


def _with_checked_shape(weights: Any, logits_shape: Any, for_each_logit: bool) -> Any:
    text = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    expected = tf.concat([logits_shape[:-1], [1]], axis=0)
    if for_each_logit:
        text += " or [D0, D1, ... DN, logits_dimension]"
        last = tf.where(tf.equal(tf.shape(weights)[-1], 1), 1, logits_shape[-1])
        expected = tf.concat([logits_shape[:-1], [last]], axis=0)
    return _after([tf.assert_equal(expected, tf.shape(weights), message=text)], weights)


def _after(checks: Sequence[Any], tensor: Any) -> Any:
    # Assertions of known values are None, or raised.
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.identity(tensor)
