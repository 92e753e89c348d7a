"""Kernel sizes, strides, channel axes and numbers of channels, checked as in tf_slim.

The errors are tf_slim's (layers/utils.py and layers/layers.py), for programs that expect them.
"""

from __future__ import annotations

import numbers
from typing import Any

import tensorflow.compat.v1 as tf

# Shapes hold `tf.Dimension` in programs that disable TensorFlow 2's tensor shapes.
_NUMBERS = (numbers.Integral, tf.Dimension)


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """Returns `n` positive integers.

    Args:
      n: number of integers.
      value: a sequence of integers (or a `TensorShape`), or one integer to repeat.

    Raises:
      ValueError: another number of integers, or an integer that is not positive.
    """
    if int(n) < 1 or int(n) != n:
        raise ValueError(f"n must be a positive integer, not {n}")
    if isinstance(value, _NUMBERS):
        values: tuple[int, ...] = (int(value),) * int(n)
    else:
        message = f"Expected sequence of {n} positive integers, but received {value!r}"
        try:
            values = tuple(map(int, value))
        except (TypeError, ValueError) as error:
            raise ValueError(message) from error
        if len(values) != n:
            raise ValueError(message)
    for integer in values:
        if integer < 1:
            raise ValueError(f"expected positive integer, but received {integer}")
    return values


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """Returns height and width of a sequence or `TensorShape`, or one integer for both.

    Args:
      int_or_tuple: an integer, a sequence of two integers, or a `TensorShape` of rank 2.

    Raises:
      ValueError: the argument is none of these.
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
      data_format: "channels_first"; every other value: channels last.
      min_rank: smallest rank that is accepted.

    Raises:
      ValueError: the rank is too small, or the number is unknown.
    """
    return known_dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """Returns the last dimension of a shape.

    Args:
      shape: a `TensorShape`.
      min_rank: smallest rank that is accepted.

    Raises:
      ValueError: the rank is too small, or the dimension is unknown.
    """
    return known_dimension(shape, -1, min_rank)


def known_dimension(shape: Any, axis: int, min_rank: int = 1) -> int:
    """Returns the dimension of an axis; see `channel_dimension`."""
    if shape.rank is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.rank}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return int(size)


def channels_first(data_format: str, formats: tuple[str, str] = ("NHWC", "NCHW")) -> bool:
    """Returns whether a data format has the channels directly after the batch.

    Args:
      data_format: one of `formats`.
      formats: the formats with channels last, and with channels first.

    Raises:
      ValueError: another data format.
    """
    if data_format not in formats:
        raise ValueError(
            f"data_format has to be either {formats[1]} or {formats[0]}. Found {data_format!r}"
        )
    return data_format == formats[1]


def channel_axis(inputs: Any, data_format: str) -> int:
    """Returns the channel axis: 1, or the last one.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with "NCHW".
      data_format: "NHWC" (channels last) or "NCHW" (channels first), for every rank.

    Raises:
      ValueError: another data format; unknown rank or number of channels.
    """
    first, shape = channels_first(data_format), inputs.shape
    if shape.rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    axis = 1 if first else shape.rank - 1
    if shape.rank < 2 or shape.as_list()[axis] is None:
        raise ValueError(
            f"Inputs {inputs.name} has undefined channels dimension: its shape is {shape}."
        )
    return int(axis)


def along_axis(values: Any, axis: int, rank: int) -> Any:
    """Reshapes a vector so that it broadcasts along one axis of a tensor of this rank.

    None and values of another rank than 1 are returned unchanged.
    """
    if values is None or values.shape.rank != 1:
        return values
    return tf.reshape(values, [-1 if index == axis else 1 for index in range(rank)])
