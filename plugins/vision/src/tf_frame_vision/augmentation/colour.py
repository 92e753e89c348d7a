"""Random changes of brightness, contrast, saturation and hue of training images.

A network that has seen them tolerates other light and other cameras. `distort` has the ranges and
orders of slim's Inception preprocessing; a seed decides, so that a resumed run repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.augmentation import draws


def brightness(image: Any, max_delta: float, seed: Any) -> Any:
    """Adds a random number from `-max_delta` to `max_delta` to all values."""
    return image + draws.uniform(seed, -max_delta, max_delta)


def contrast(image: Any, low: float, high: float, seed: Any) -> Any:
    """Multiplies the distance of each value from its channel's mean by a random factor."""
    return tf.image.adjust_contrast(image, draws.uniform(seed, low, high))


def saturation(image: Any, low: float, high: float, seed: Any) -> Any:
    """Multiplies the saturation, as in HSV, by a random factor; the image has 3 channels."""
    return tf.image.adjust_saturation(image, draws.uniform(seed, low, high))


def hue(image: Any, max_delta: float, seed: Any) -> Any:
    """Rotates the hue by a random part of the colour circle; the image has 3 channels."""
    return tf.image.adjust_hue(image, draws.uniform(seed, -max_delta, max_delta))


# Ranges and orders are those of slim, inception_preprocessing.py.
_CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "brightness": lambda image, seed: brightness(image, 32.0 / 255.0, seed),
    "saturation": lambda image, seed: saturation(image, 0.5, 1.5, seed),
    "hue": lambda image, seed: hue(image, 0.2, seed),
    "contrast": lambda image, seed: contrast(image, 0.5, 1.5, seed),
}
_NEEDS_COLOUR = ("saturation", "hue")

ORDERS = (
    ("brightness", "saturation", "hue", "contrast"),
    ("saturation", "brightness", "contrast", "hue"),
    ("contrast", "hue", "brightness", "saturation"),
    ("hue", "saturation", "contrast", "brightness"),
)
FAST_ORDER = ("brightness", "saturation")


def distort(image: Any, order: Sequence[str], seed: Any) -> Any:
    """Applies changes one after the other; an image of one channel has no hue or saturation.

    Args:
      image: `[height, width, channels]` float32 from 0 to 1.
      order: names of changes: brightness, contrast, hue, saturation.

    Returns:
      Like `image`, values from 0 to 1.
    """
    grey = image.shape.as_list()[-1] == 1
    for name, own_seed in zip(order, draws.split(seed, len(order)), strict=True):
        if not (grey and name in _NEEDS_COLOUR):
            image = _CHANGES[name](image, own_seed)
    return tf.clip_by_value(image, 0.0, 1.0)
