"""Initial values of weights."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def truncated_normal(stddev: float, mean: float = 0.0) -> Any:
    """Normal values, redrawn where farther than two deviations from the mean.

    Args:
      stddev: standard deviation before the cut.
      mean: the mean.
    """
    return tf.truncated_normal_initializer(mean=mean, stddev=stddev)


def variance_scaling(scale: float = 2.0, mode: str = "fan_in") -> Any:
    """Truncated normal values of variance `scale / fan`; He et al. 2015 by default.

    For depthwise weights the fans count all channels, which makes the values
    too small; give those a `truncated_normal`.

    Args:
      scale: 2 before a rectifier (https://arxiv.org/abs/1502.01852), else 1.
      mode: "fan_in", "fan_out" or "fan_avg".
    """
    return tf.variance_scaling_initializer(scale=scale, mode=mode, distribution="truncated_normal")


def xavier() -> Any:
    """Uniform values of variance `2 / (fan_in + fan_out)`; slim's default.

    Source: Glorot and Bengio 2010.
    """
    return tf.glorot_uniform_initializer()
