"""Random flips, rotations, scales and crops, each decided by a seed of two integers.

They vary the training images from epoch to epoch, and their labels alike; thanks to the seeds a
resumed run makes the changes that an uninterrupted one would have made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_vision.augmentation import draws, geometry
from tf_frame_vision.augmentation.geometry import Sample
from tf_frame_vision.resizing import HALF_PIXEL


def apply_if(condition: Any, change: Callable[[Sample], Sample], sample: Sample) -> Sample:
    """Applies a change where a scalar bool holds; only then are its ops computed."""
    names = [name for name, part in sample._asdict().items() if part is not None]

    def parts(of: Sample) -> list[Any]:
        return [getattr(of, name) for name in names]

    chosen = tf.cond(condition, lambda: parts(change(sample)), lambda: parts(sample))
    # tf.cond unpacks a list of one tensor.
    chosen = chosen if len(names) > 1 else tf.nest.flatten(chosen)
    return sample._replace(**dict(zip(names, chosen, strict=True)))


def random_flip(sample: Sample, seed: Any) -> Sample:
    """Mirrors the image, left to right, half the time."""
    return apply_if(draws.coin(seed), geometry.flip_left_right, sample)


def random_rotate_90(sample: Sample, seed: Any) -> Sample:
    """Rotates by 0, 90, 180 or 270 degrees, all equally likely."""
    turns, flips = draws.split(seed, 2)
    sample = apply_if(draws.coin(turns), geometry.rotate_90, sample)
    return apply_if(draws.coin(flips), functools.partial(geometry.rotate_90, turns=2), sample)


def random_scale(
    sample: Sample, low: float, high: float, seed: Any, resizing: str = HALF_PIXEL
) -> Sample:
    """Resizes height and width by a factor from `low` to `high`; see `geometry.resize`."""
    return geometry.scale(sample, draws.uniform(seed, low, high), resizing)


def random_crop(sample: Sample, height: int, width: int, seed: Any) -> Sample:
    """Cuts out a window, all positions equally likely; see `geometry.crop`.

    Args:
      sample: the image, not smaller than the window, and its marks.
      height, width: of the window, in pixels.
    """
    size = tf.shape(sample.image)
    down, across = draws.split(seed, 2)
    top = draws.integer(down, 0, size[0] - height + 1)
    left = draws.integer(across, 0, size[1] - width + 1)
    return geometry.crop(sample, top, left, height, width)


def random_crop_or_pad(
    sample: Sample, height: int, width: int, seed: Any, *, fill: float = 0, mask_fill: float = 0
) -> Sample:
    """Crops or pads to a size at a random position; see `geometry.crop_or_pad`."""
    down, across = (draws.uniform(axis_seed) for axis_seed in draws.split(seed, 2))
    return geometry.crop_or_pad(
        sample, height, width, down=down, across=across, fill=fill, mask_fill=mask_fill
    )
