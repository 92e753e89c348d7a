"""Regularizers of weights, with slim's arguments, op names and errors.

A regularizer maps a variable to a scalar penalty, or to None for no penalty.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

Regularizer = Callable[[Any], Any]

# Collection of the `WeightPenalty`s of a graph. Its name is no string: TensorFlow exports only
# collections that are named by strings.
WEIGHT_PENALTIES = ("tf_frame/weight_penalties",)


class WeightPenalty(NamedTuple):
    """The parts of a penalty of the L1 or the L2 regularizer, `scale * norm(weights)`.

    Attributes:
      total: the penalty, a scalar tensor.
      weights: tensor of the weights.
      norm, factor: scalar tensors; the penalty is their product.
      scale: the scale as given; the factor is a tensor of it.
    """

    total: Any
    weights: Any
    norm: Any
    factor: Any
    scale: Any


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Returns the L1 regularizer, `scale * sum(|weights|)`.

    Args:
      scale: a float of 0 or more, or a scalar tensor; 0: no penalty.
      scope: name of the op; None: "l1_regularizer".

    Raises:
      ValueError: `scale` is an integer, or negative.
    """
    return _scaled(scale, scope, "l1_regularizer", lambda w: tf.reduce_sum(tf.abs(w)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Returns the L2 regularizer, `scale * sum(weights ** 2) / 2`.

    Args:
      scale: a float of 0 or more, or a scalar tensor; 0: no penalty.
      scope: name of the op; None: "l2_regularizer".

    Raises:
      ValueError: `scale` is an integer, or negative.
    """
    return _scaled(scale, scope, "l2_regularizer", tf.nn.l2_loss)


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer:
    """Returns the sum of an L1 and an L2 regularizer.

    Args:
      scale_l1: scale of the L1 penalty; 0: L2 penalty only.
      scale_l2: scale of the L2 penalty; 0: L1 penalty only.
      scope: name of the op; None: "l1_l2_regularizer".

    Raises:
      ValueError: a scale is an integer, or negative.
    """
    _refuse_integer("scale_l1", scale_l1)
    _refuse_integer("scale_l2", scale_l2)
    scope = scope or "l1_l2_regularizer"
    if _is_zero(scale_l1):
        return l2_regularizer(scale_l2, scope)
    if _is_zero(scale_l2):
        return l1_regularizer(scale_l1, scope)
    return _sum([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(
    regularizer_list: Sequence[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """Returns the sum of regularizers, without None entries; None without any regularizer.

    Args:
      regularizer_list: the regularizers; each maps weights to a scalar penalty or None.
      scope: name of the op; None: "sum_regularizer".
    """
    parts = [part for part in regularizer_list if part is not None]
    return _sum(parts, scope) if parts else None


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """Adds the sum of the penalties of weights to `REGULARIZATION_LOSSES`, and returns the sum.

    Args:
      regularizer: maps each of the weights to a scalar penalty, or to None for no penalty.
      weights_list: the weights; None or empty: the collection `WEIGHTS`.

    Raises:
      ValueError: there are no weights, or a penalty is not a scalar.
    """
    weights_list = weights_list or tf.get_collection(tf.GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [tf.constant(0.0) if penalty is None else penalty for penalty in penalties]
        for penalty in penalties:
            if penalty.shape.rank != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{penalty.shape.rank}."
                )
        total = tf.add_n(penalties, name=scope)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, total)
    return total


def _scaled(scale: Any, scope: str | None, default: str, norm: Regularizer) -> Regularizer:
    _refuse_integer("scale", scale)
    if isinstance(scale, numbers.Real) and scale < 0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
    if _is_zero(scale):
        return lambda _: None

    def penalty(weights: Any) -> Any:
        with tf.name_scope(scope, default, [weights]) as name:
            factor = tf.convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            values = tf.convert_to_tensor(weights)
            length = norm(values)
            total = tf.multiply(factor, length, name=name)
        # A training graph may multiply many norms by their common factor at once.
        parts = WeightPenalty(total, values, length, factor, scale)
        tf.add_to_collection(WEIGHT_PENALTIES, parts)
        return total

    return penalty


def _sum(parts: list[Regularizer], scope: str | None) -> Regularizer:
    def penalty(weights: Any) -> Any:
        with tf.name_scope(scope, "sum_regularizer", [weights]) as name:
            terms = [term for term in (part(weights) for part in parts) if term is not None]
            return tf.add_n(terms, name=name) if terms else None

    return penalty


def _refuse_integer(name: str, scale: Any) -> None:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{name} cannot be an integer: {scale}; write {scale}.0")


def _is_zero(scale: Any) -> bool:
    return isinstance(scale, numbers.Real) and scale == 0
