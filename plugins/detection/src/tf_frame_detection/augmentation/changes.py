"""Flips, turns, scales, jitter of boxes and colours, with the object detection API's names.

Names and defaults: tensorflow/models, research/object_detection/core/preprocessor.py and
protos/preprocessor.proto. Each function takes an image, a seed of `[2]` integers, and its own
options.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.augmentation.labelled import (
    Labelled,
    apply_change,
    apply_if,
    height_and_width,
)
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import colour, draws

_WHITE = 255.0
# The API's two orders.
_COLOUR_ORDERS = (colour.ORDERS[0], ("brightness", "contrast", "saturation", "hue"))


def random_horizontal_flip(labelled: Labelled, seed: Any) -> Labelled:
    """Mirrors the image, left to right, half the time."""
    return _half_the_time(augmentation.flip_left_right, labelled, seed)


def random_vertical_flip(labelled: Labelled, seed: Any) -> Labelled:
    """Mirrors the image, top to bottom, half the time."""
    return _half_the_time(augmentation.flip_up_down, labelled, seed)


def random_rotation90(labelled: Labelled, seed: Any) -> Labelled:
    """Rotates by 90 degrees counter-clockwise half the time."""
    return _half_the_time(augmentation.rotate_90, labelled, seed)


def random_image_scale(
    labelled: Labelled, seed: Any, *, min_scale_ratio: float = 0.5, max_scale_ratio: float = 2.0
) -> Labelled:
    """Resizes height and width by one factor."""
    factor = draws.uniform(seed, min_scale_ratio, max_scale_ratio)
    return apply_change(lambda sample: augmentation.scale(sample, factor), labelled)


def resize_image(
    labelled: Labelled, seed: Any, *, new_height: int = 600, new_width: int = 1024
) -> Labelled:
    """Resizes to a size."""
    del seed
    return apply_change(lambda sample: augmentation.resize(sample, new_height, new_width), labelled)


def random_jitter_boxes(labelled: Labelled, seed: Any, *, ratio: float = 0.05) -> Labelled:
    """Moves each edge of each box by up to a share of the box's height or width.

    Boxes stay within the image. Corners of a rotated box move as its upright one is stretched.
    """
    boxes = labelled.boxes
    sides = boxes[:, 2:] - boxes[:, :2]
    moves = tf.random.stateless_uniform(tf.shape(boxes), seed, -ratio, ratio)
    limits = tf.cast(tf.tile(height_and_width(labelled), [2]), tf.float32)
    jittered = tf.clip_by_value(boxes + moves * tf.tile(sides, [1, 2]), 0.0, limits)
    corners = labelled.corners
    if corners is not None:
        factors = (jittered[:, 2:] - jittered[:, :2]) / tf.maximum(sides, 1e-6)
        shares = corners - boxes[:, tf.newaxis, :2]
        corners = jittered[:, tf.newaxis, :2] + shares * factors[:, tf.newaxis]
    return labelled._replace(boxes=jittered, corners=corners)


def random_adjust_brightness(labelled: Labelled, seed: Any, *, max_delta: float = 0.2) -> Labelled:
    """Adds a random number to all values; `max_delta` is a share of white."""
    return _recoloured(labelled, colour.brightness(labelled.image, max_delta * _WHITE, seed))


def random_adjust_contrast(
    labelled: Labelled, seed: Any, *, min_delta: float = 0.8, max_delta: float = 1.25
) -> Labelled:
    """Multiplies the distance of values from their channel's mean."""
    return _recoloured(labelled, colour.contrast(labelled.image, min_delta, max_delta, seed))


def random_adjust_hue(labelled: Labelled, seed: Any, *, max_delta: float = 0.02) -> Labelled:
    """Turns the hue by up to a share of the colour circle."""
    image = colour.hue(labelled.image / _WHITE, max_delta, seed) * _WHITE
    return _recoloured(labelled, image)


def random_adjust_saturation(
    labelled: Labelled, seed: Any, *, min_delta: float = 0.8, max_delta: float = 1.25
) -> Labelled:
    """Multiplies the saturation."""
    image = colour.saturation(labelled.image / _WHITE, min_delta, max_delta, seed) * _WHITE
    return _recoloured(labelled, image)


def random_distort_color(labelled: Labelled, seed: Any, *, color_ordering: int = 0) -> Labelled:
    """Changes brightness, saturation, hue and contrast; the ordering is 0 or 1."""
    if color_ordering not in (0, 1):
        raise ConfigError(f"random_distort_color:color_ordering is {color_ordering}; it is 0 or 1")
    order = _COLOUR_ORDERS[color_ordering]
    return _recoloured(labelled, colour.distort(labelled.image / _WHITE, order, seed) * _WHITE)


def random_rgb_to_gray(labelled: Labelled, seed: Any, *, probability: float = 0.1) -> Labelled:
    """Makes the image grey, still with three channels, at times."""

    def grey(of: Labelled) -> Labelled:
        return of._replace(image=tf.tile(tf.image.rgb_to_grayscale(of.image), [1, 1, 3]))

    return apply_if(draws.uniform(seed) < probability, grey, labelled)


def random_pixel_value_scale(
    labelled: Labelled, seed: Any, *, minval: float = 0.9, maxval: float = 1.1
) -> Labelled:
    """Multiplies each value by a random factor of its own."""
    factors = tf.random.stateless_uniform(tf.shape(labelled.image), seed, minval, maxval)
    return _recoloured(labelled, labelled.image * factors)


def _half_the_time(change: Any, labelled: Labelled, seed: Any) -> Labelled:
    return apply_if(draws.coin(seed), functools.partial(apply_change, change), labelled)


def _recoloured(labelled: Labelled, image: Any) -> Labelled:
    return labelled._replace(image=tf.clip_by_value(image, 0.0, _WHITE))
