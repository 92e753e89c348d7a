"""Geometry of training and evaluation images as DeepLab's trainers have it.

    resize to a range -> random scale -> random crop -> colours -> pad to the crop -> random flip

Sizes, steps and fills follow deeplab/core/preprocess_utils.py and deeplab/input_preprocess.py of
tensorflow/models. Where pixels lie is an option: `tf_frame_vision.resizing`.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.inputs.mean_pixel import MEAN_PIXEL
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import Sample, colour, draws
from tf_frame_vision.resizing import HALF_PIXEL

_WHITE = 255.0


def resized_to_range(
    sample: Sample,
    *,
    smallest: int | None,
    largest: int | None,
    factor: int | None,
    resizing: str = HALF_PIXEL,
) -> Sample:
    """Resizes the smaller side to `smallest`, or the larger side to `largest` if that is less.

    Args:
      sample: image and mask.
      smallest: pixels of the smaller side; None: the size stays.
      largest: the most pixels of the larger side; None: any.
      factor: both sides become a multiple of it plus one, and `largest` the greatest one that is
        not above it; None: any size.
      resizing: a key of `tf_frame_vision.resizing.PLACES`.
    """
    if smallest is None:
        return sample
    height, width = range_size(tf.shape(sample.image)[:2], smallest, largest, factor)
    return augmentation.resize(sample, height, width, resizing)


def range_size(size: Any, smallest: int, largest: int | None, factor: int | None) -> Any:
    """Returns the size of an image after `resized_to_range`.

    Args:
      size: `[2]` int32: height and width.
      smallest, largest, factor: see `resized_to_range`.
    """
    sides = tf.cast(size, tf.float32)
    new = tf.cast(tf.floor(sides * (smallest / tf.reduce_min(sides))), tf.int32)
    if largest is not None:
        if factor is not None:
            largest -= (largest - 1) % factor
        limited = tf.cast(tf.floor(sides * (largest / tf.reduce_max(sides))), tf.int32)
        new = tf.where(tf.reduce_max(new) > largest, limited, new)
    if factor is not None:
        new += (factor - (new - 1) % factor) % factor
    return tf.unstack(new, 2)


def random_scale(
    sample: Sample,
    low: float,
    high: float,
    step: float,
    seed: Any,
    *,
    resizing: str = HALF_PIXEL,
) -> Sample:
    """Scales by a factor from `low` to `high`, with a step one of `low, low + step, ... high`."""
    if low == high:
        return sample if low == 1 else augmentation.scale(sample, low, resizing)
    if not step:
        return augmentation.random_scale(sample, low, high, seed, resizing)
    count = int((high - low) / step + 1)
    factors = tf.linspace(tf.constant(low, tf.float32), high, count)
    return augmentation.scale(sample, factors[draws.integer(seed, 0, count)], resizing)


def padded(sample: Sample, height: int, width: int, *, mask_fill: int) -> Sample:
    """Pads below and to the right, by the mean pixel, to at least this size."""
    size = tf.maximum(tf.shape(sample.image)[:2], [height, width])
    return augmentation.pad(sample, 0, 0, size[0], size[1], fill=MEAN_PIXEL, mask_fill=mask_fill)


def training_crop(sample: Sample, params: Any, seed: Any, *, mask_fill: int) -> Sample:
    """Scales, crops, pads and flips at random, and varies colours if the options ask for it.

    Args:
      sample: image float32 and mask int32.
      params: `SegmentedImageOptions`.
      seed: `[2]` integers.
      mask_fill: label of pixels beyond the image.
    """
    scale_seed, crop_seed, flip_seed, colour_seed = draws.split(seed, 4)
    low, high = params.min_scale_factor, params.max_scale_factor
    step, resizing = params.scale_factor_step_size, params.resizing
    sample = random_scale(sample, low, high, step, scale_seed, resizing=resizing)
    size = tf.minimum(tf.shape(sample.image)[:2], params.crop)
    sample = augmentation.random_crop(sample, size[0], size[1], crop_seed)
    if params.distort_colors:
        image = colour.distort(sample.image / _WHITE, colour.ORDERS[0], colour_seed) * _WHITE
        sample = sample._replace(image=image)
    sample = padded(sample, *params.crop, mask_fill=mask_fill)
    return augmentation.random_flip(sample, flip_seed) if params.flip else sample
