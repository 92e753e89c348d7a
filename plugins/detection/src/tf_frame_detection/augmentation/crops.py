"""Random crops and padding, with the object detection API's names and defaults.

Names and defaults: tensorflow/models, research/object_detection/core/preprocessor.py and
protos/preprocessor.proto. SSD's crops: W. Liu et al., SSD: Single Shot MultiBox Detector, 2016,
section 2.2. Each function takes an image, a seed of `[2]` integers, and its own options.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.augmentation.labelled import (
    Labelled,
    apply_change,
    apply_if,
    cut_to_image,
    cut_window,
    height_and_width,
    pad_around,
)
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import draws

_MAX_ATTEMPTS = 100
_SSD_OVERLAPS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def random_crop_image(
    labelled: Labelled,
    seed: Any,
    *,
    min_object_covered: Any = 1.0,
    min_aspect_ratio: float = 0.75,
    max_aspect_ratio: float = 1.33,
    min_area: float = 0.1,
    max_area: float = 1.0,
    overlap_thresh: Any = 0.3,
    random_coef: float = 0.0,
) -> Labelled:
    """Cuts a window of random place, area and aspect ratio, so that it covers an object.

    Args:
      min_object_covered: share of at least one box that lies in the window.
      min_aspect_ratio, max_aspect_ratio: width over height of the window.
      min_area, max_area: share of the image.
      overlap_thresh: objects with a smaller share left are left out.
      random_coef: probability that nothing is changed.
    """
    whether, where = draws.split(seed, 2)
    change = functools.partial(
        _cropped,
        seed=where,
        covered=min_object_covered,
        ratios=(min_aspect_ratio, max_aspect_ratio),
        areas=(min_area, max_area),
        least=overlap_thresh,
    )
    return apply_if(draws.uniform(whether) >= random_coef, change, labelled)


def ssd_random_crop(labelled: Labelled, seed: Any, *, random_coef: float = 0.15) -> Labelled:
    """SSD's crop: the least overlap with an object is 0, 0.1, 0.3, 0.5, 0.7, 0.9 or 1.

    Objects with less than this share left are left out. `random_coef` is the
    probability that nothing is changed.
    """
    return _ssd_crop(labelled, seed, _SSD_OVERLAPS, random_coef)


def ssd_random_crop_pad(labelled: Labelled, seed: Any, *, random_coef: float = 0.15) -> Labelled:
    """SSD's crop with a least overlap of 0.1 or more, then `random_pad_image`."""
    crop_seed, pad_seed = draws.split(seed, 2)
    return random_pad_image(
        _ssd_crop(labelled, crop_seed, _SSD_OVERLAPS[1:], random_coef), pad_seed
    )


def random_pad_image(
    labelled: Labelled, seed: Any, *, max_padded_size_ratio: float = 2.0
) -> Labelled:
    """Pads height and width, each up to a multiple, by the image's mean colour, at random."""
    height, width, down, across = draws.split(seed, 4)
    size = height_and_width(labelled)
    most = tf.cast(tf.cast(size, tf.float32) * max_padded_size_ratio, tf.int32)
    target = tf.stack(
        [draws.integer(each, size[k], most[k] + 1) for k, each in enumerate((height, width))]
    )
    room = target - size
    top, left = draws.integer(down, 0, room[0] + 1), draws.integer(across, 0, room[1] + 1)
    return pad_around(labelled, top, left, target)


def random_absolute_pad_image(
    labelled: Labelled, seed: Any, *, max_height_padding: int = 32, max_width_padding: int = 32
) -> Labelled:
    """Pads by up to so many pixels of the image's mean colour, at random sides."""
    height, width, down, across = draws.split(seed, 4)
    more = tf.stack(
        [
            draws.integer(height, 0, max_height_padding + 1),
            draws.integer(width, 0, max_width_padding + 1),
        ]
    )
    top, left = draws.integer(down, 0, more[0] + 1), draws.integer(across, 0, more[1] + 1)
    return pad_around(labelled, top, left, height_and_width(labelled) + more)


def random_crop_to_aspect_ratio(
    labelled: Labelled, seed: Any, *, aspect_ratio: float = 1.0, overlap_thresh: float = 0.3
) -> Labelled:
    """Cuts the largest window of an aspect ratio, width over height, at a random place."""
    size = height_and_width(labelled)
    sides = tf.cast(size, tf.float32)
    least = tf.minimum(sides, tf.stack([sides[1] / aspect_ratio, sides[0] * aspect_ratio]))
    window = tf.maximum(tf.cast(tf.round(least), tf.int32), 1)
    down, across = draws.split(seed, 2)
    top = draws.integer(down, 0, size[0] - window[0] + 1)
    left = draws.integer(across, 0, size[1] - window[1] + 1)
    return cut_window(labelled, top, left, window, overlap_thresh)


def random_pad_to_aspect_ratio(
    labelled: Labelled, seed: Any, *, aspect_ratio: float = 1.0
) -> Labelled:
    """Pads to an aspect ratio, width over height; the image stands at a random place."""
    size = height_and_width(labelled)
    sides = tf.cast(size, tf.float32)
    most = tf.maximum(sides, tf.stack([sides[1] / aspect_ratio, sides[0] * aspect_ratio]))
    target = tf.maximum(tf.cast(tf.round(most), tf.int32), size)
    down, across = draws.split(seed, 2)
    top = draws.integer(down, 0, target[0] - size[0] + 1)
    left = draws.integer(across, 0, target[1] - size[1] + 1)
    return pad_around(labelled, top, left, target)


def random_scale_crop_and_pad_to_square(
    labelled: Labelled,
    seed: Any,
    *,
    output_size: int = 512,
    scale_min: float = 0.1,
    scale_max: float = 2.0,
    overlap_thresh: float = 0.3,
) -> Labelled:
    """Scales, and cuts or pads to a square at a random place, with black.

    Args:
      output_size: side of the square, in pixels.
      scale_min, scale_max: the larger side becomes this share of `output_size`.
      overlap_thresh: objects with a smaller share left are left out.
    """
    scale_seed, place_seed = draws.split(seed, 2)
    side = tf.cast(tf.reduce_max(height_and_width(labelled)), tf.float32)
    factor = draws.uniform(scale_seed, scale_min, scale_max) * output_size / side

    def change(sample: augmentation.Sample) -> augmentation.Sample:
        sample = augmentation.scale(sample, factor)
        return augmentation.random_crop_or_pad(sample, output_size, output_size, place_seed)

    return cut_to_image(apply_change(change, labelled), overlap_thresh)


def _ssd_crop(labelled: Labelled, seed: Any, overlaps: Any, random_coef: float) -> Labelled:
    which, crop = draws.split(seed, 2)
    overlap = tf.constant(overlaps)[draws.integer(which, 0, len(overlaps))]
    return random_crop_image(
        labelled,
        crop,
        min_object_covered=overlap,
        min_aspect_ratio=0.5,
        max_aspect_ratio=2.0,
        overlap_thresh=overlap,
        random_coef=random_coef,
    )


def _cropped(
    labelled: Labelled,
    *,
    seed: Any,
    covered: Any,
    ratios: tuple[float, float],
    areas: tuple[float, float],
    least: Any,
) -> Labelled:
    size = height_and_width(labelled)
    shares = labelled.boxes / tf.cast(tf.tile(size, [2]), tf.float32)
    begin, window, _ = tf.raw_ops.StatelessSampleDistortedBoundingBox(
        image_size=tf.shape(labelled.image),
        bounding_boxes=tf.clip_by_value(shares, 0.0, 1.0)[tf.newaxis],
        min_object_covered=covered,
        seed=seed,
        aspect_ratio_range=ratios,
        area_range=areas,
        max_attempts=_MAX_ATTEMPTS,
        use_image_if_no_bounding_boxes=True,
    )
    return cut_window(labelled, begin[0], begin[1], window[:2], least)
