"""Sizes of kernels, strides and channels, checked as in tf_slim, layers/utils.py."""

from __future__ import annotations

import numbers
from typing import Any

import tensorflow.compat.v1 as tf

# `tf.Dimension` is what a shape holds where old programs ask for it.
_NUMBERS = (numbers.Integral, tf.Dimension)


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """Returns `n` positive integers.

    Args:
      n: how many.
      value: a sequence of them (or a `TensorShape`), or one that holds for all.

    Raises:
      ValueError: there are not `n`, or one of them is not positive.
    """
    if int(n) < 1 or int(n) != n:
        raise ValueError(f"n must be a positive integer, not {n}")
    values = (int(value),) * int(n) if isinstance(value, _NUMBERS) else _integers(int(n), value)
    for each in values:
        if each < 1:
            raise ValueError(f"expected positive integer, but received {each}")
    return values


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """Returns height and width.

    Args:
      int_or_tuple: both, as a sequence or `TensorShape`; or one integer for both.

    Raises:
      ValueError: it is neither.
    """
    if isinstance(int_or_tuple, _NUMBERS):
        return int(int_or_tuple), int(int_or_tuple)
    values = list(int_or_tuple) if hasattr(int_or_tuple, "__len__") else []
    if len(values) != 2:
        raise ValueError(
            f"Must be an int, a list with 2 elements or a TensorShape of length 2: {int_or_tuple!r}"
        )
    return int(values[0]), int(values[1])


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int:
    """Returns the number of channels.

    Args:
      shape: a `TensorShape`.
      data_format: "channels_first", otherwise the channels are last.
      min_rank: the least rank that the shape must have.

    Raises:
      ValueError: the rank is too small, or the number is not known.
    """
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """Returns the last size of a shape; see `channel_dimension`."""
    return _dimension(shape, -1, min_rank)


def _dimension(shape: Any, axis: int, min_rank: int) -> int:
    if shape.rank is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.rank}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return int(size)


def _integers(n: int, value: Any) -> tuple[int, ...]:
    try:
        values = tuple(int(each) for each in value)
    except (TypeError, ValueError) as error:
        raise _not_integers(n, value) from error
    if len(values) != n:
        raise _not_integers(n, value)
    return values


def _not_integers(n: int, value: Any) -> ValueError:
    return ValueError(f"Expected sequence of {n} positive integers, but received {value!r}")
