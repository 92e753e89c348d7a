"""Initializers of weights, with slim's arguments and constants.

Networks begin with the same distributions as in slim; Keras scales its truncated normals by another
constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")
# A normal distribution truncated at two standard deviations has 0.774 of the variance. Slim
# multiplies by 1.3 in turn (tf_slim, layers/initializers.py), Keras by 1 / 0.774.
_TRUNCATION = 1.3


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = tf.float32
) -> Callable[..., Any]:
    """Returns the default initializer of the layers, with variance `2 / (fan_in + fan_out)`.

    Source: Glorot and Bengio 2010, http://proceedings.mlr.press/v9/glorot10a.html.

    Args:
      uniform: uniform distribution; otherwise truncated normal.
      seed: seed of the op.
      dtype: floating-point type of the values.

    Raises:
      TypeError: a type that is not floating-point.
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = tf.float32,
) -> Callable[..., Any]:
    """Returns an initializer with variance `factor / fan`, by default as He et al. 2015.

    For a shape `[*kernel, inputs, outputs]`, fan in and fan out are the size of the kernel times
    `inputs` and `outputs`. For depthwise weights the values are too small, since all channels
    count: use `truncated_normal_initializer`.

    Args:
      factor: 2 before a rectifier (https://arxiv.org/abs/1502.01852), otherwise 1.
      mode: "FAN_IN", "FAN_OUT", or "FAN_AVG" for the mean of both.
      uniform: uniform distribution; otherwise truncated normal.
      seed: seed of the op.
      dtype: floating-point type of the values.

    Returns:
      An initializer for `get_variable`: a function of a shape and optionally a type.

    Raises:
      TypeError: unknown mode, or a type that is not floating-point.
    """
    _check_floating(dtype)
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [{', '.join(_MODES)}]")

    def initializer(shape: Sequence[int], dtype: Any = dtype, partition_info: Any = None) -> Any:
        _check_floating(dtype)
        variance = factor / _fan(list(shape), mode)
        if uniform:
            limit = math.sqrt(3.0 * variance)
            return tf.random_uniform(shape, -limit, limit, dtype, seed=seed)
        stddev = math.sqrt(_TRUNCATION * variance)
        return tf.truncated_normal(shape, 0.0, stddev, dtype, seed=seed)

    return initializer


def _fan(shape: list[int], mode: str) -> float:
    taps = math.prod(shape[:-2])
    fan_in = taps * shape[-2] if len(shape) > 1 else math.prod(shape)
    fan_out = taps * shape[-1] if shape else 1
    fans = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}
    return float(fans[mode])


def _check_floating(dtype: Any) -> None:
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError(
            "Cannot create initializer for non-floating point type."
            f" It is {tf.as_dtype(dtype).name}; give the variable another initializer."
        )
