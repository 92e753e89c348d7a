"""Shapes of programs that divide numbers of channels with `/`, or tensors by sizes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


def take_whole_numbers() -> None:
    """Lets the dimensions of the process be floating-point numbers like 3.0, as until 2019."""
    make = tf.Dimension.__init__

    @functools.wraps(make)
    def init(dimension: Any, value: Any) -> None:
        is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        make(dimension, int(value) if is_whole else value)

    tf.Dimension.__init__ = init


def mix_with_tensors() -> None:
    """Lets floating-point tensors be multiplied with dimensions and divided by them.

    TensorFlow 2, for which programs with `tf.compat.v1` may be written, has numbers in place of
    dimensions. TensorFlow 1 refused this.
    """
    # Before the function of TensorFlow itself, which has the default priority of 100.
    tf.register_tensor_conversion_function(tf.Dimension, _as_floating, priority=99)


def _as_floating(
    dimension: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """Returns a dimension as a floating-point tensor, if that is asked for."""
    is_known = dimension.value is not None and not as_ref
    if dtype is None or not tf.as_dtype(dtype).is_floating or not is_known:
        return NotImplemented
    return tf.constant(float(dimension.value), dtype, name=name or "dimension")
