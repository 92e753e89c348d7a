"""Stateless random numbers, so that the augmentation of an example follows from its seed.

A resumed run then sees the images that an uninterrupted one would have seen. The state of ops
such as `tf.random.uniform` cannot be saved with the position in the input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def split(seed: Any, count: int) -> list[Any]:
    """Makes several independent seeds of one.

    Args:
      count: number of seeds.

    Returns:
      A list of `[2]` integer tensors.
    """
    return list(tf.unstack(tf.random.experimental.stateless_split(seed, count)))


def uniform(seed: Any, low: Any = 0.0, high: Any = 1.0) -> Any:
    """Draws a float32 scalar from `[low, high)`."""
    return tf.random.stateless_uniform([], seed, low, high)


def integer(seed: Any, low: Any, high: Any) -> Any:
    """Draws an int32 scalar from `low` to `high - 1`; both may be tensors."""
    return tf.random.stateless_uniform([], seed, low, high, tf.int32)


def coin(seed: Any) -> Any:
    """Draws a bool scalar, true half the time."""
    return uniform(seed) < 0.5


def choose(makers: Sequence[Callable[[], Any]], seed: Any) -> Any:
    """Runs one of several functions, all equally likely; only its ops are computed."""
    return tf.switch_case(integer(seed, 0, len(makers)), list(makers))
