"""Hue, saturation and value of images, changed in the colour space YIQ."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

# RGB to YIQ, the constants of TensorFlow 1.15, contrib/image/kernels/adjust_hsv_in_yiq_op.h.
_TO_YIQ = [[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]]


def adjust_hsv_in_yiq(
    image: Any,
    delta_hue: Any = 0,
    scale_saturation: Any = 1,
    scale_value: Any = 1,
    name: str | None = None,
) -> Any:
    """Rotates the hue of RGB images and scales their saturation and value.

    Args:
      image: `[..., height, width, 3]`; integers are scaled to 0 to 1 and back.
      delta_hue: radians.
      scale_saturation, scale_value: factors, at least 0.
      name: op name.

    Returns:
      Images of the same type.
    """
    with tf.name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = tf.convert_to_tensor(image, name="image")
        delta, saturation, value = (
            tf.cast(factor, tf.float32) for factor in (delta_hue, scale_saturation, scale_value)
        )
        across, along = saturation * tf.sin(delta), saturation * tf.cos(delta)
        zero, one = tf.zeros([]), tf.ones([])
        turn = tf.stack([[one, zero, zero], [zero, along, -across], [zero, across, along]])
        matrix = value * tf.linalg.inv(tf.constant(_TO_YIQ)) @ turn @ tf.constant(_TO_YIQ)
        changed = tf.tensordot(tf.image.convert_image_dtype(image, tf.float32), matrix, [[-1], [1]])
        return tf.image.convert_image_dtype(changed, image.dtype)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Any:
    """Calls `adjust_hsv_in_yiq` with random numbers in these ranges.

    Args:
      image: see `adjust_hsv_in_yiq`.
      max_delta_hue: largest angle in radians, in both directions.
      lower_saturation, upper_saturation: range of the factor of the saturation.
      lower_value, upper_value: range of the factor of the value.
      seed: of the random numbers.

    Raises:
      ValueError: a negative limit, or limits in the wrong order.
    """
    if not 0 <= max_delta_hue < math.inf:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hsv_in_yiq(
        image,
        _uniform(-max_delta_hue, max_delta_hue, seed),
        _uniform(*_range("saturation", lower_saturation, upper_saturation), seed),
        _uniform(*_range("value", lower_value, upper_value), seed),
    )


def _range(name: str, lower: float, upper: float) -> tuple[float, float]:
    if lower < 0:
        raise ValueError(f"lower_{name} must be non-negative.")
    if lower > upper:
        raise ValueError(f"lower_{name} must be < upper_{name}.")
    return lower, upper


def _uniform(lower: float, upper: float, seed: int | None) -> Any:
    return lower if lower == upper else tf.random_uniform([], lower, upper, seed=seed)
