"""Random crops of a tile, by stateless ops only."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_deeplab.nuclei import IGNORE_LABEL


def augment(image: Any, mask: Any, *, params: Any, seed: Any) -> tuple[Any, Any]:
    """Scales, crops, mirrors and turns a tile.

    Args:
      image: `[height, width, 3]` float32.
      mask: `[height, width]` bool, whether a pixel is foreground.
      params: `tf_frame_deeplab.nuclei.Params`.
      seed: `[2]` integers that decide everything.

    Returns:
      The image `[crop_size, crop_size, 3]` float32, black beyond the tile, and
      labels `[crop_size, crop_size]` int32, `IGNORE_LABEL` there.
    """
    draws = tf.unstack(tf.random.stateless_uniform([6], seed))
    # One tensor of image, foreground and "inside the tile" takes every step once.
    planes = tf.cast(mask, tf.float32)[..., tf.newaxis]
    planes = tf.concat([image, planes, tf.ones_like(planes)], axis=2)
    low, high = params.min_scale_factor, params.max_scale_factor
    planes = _scale(planes, low + draws[0] * (high - low))
    planes = _crop(planes, params.crop_size, draws[1], draws[2])
    if params.flip:
        planes = _flip(planes, draws[3:])
    foreground = tf.cast(planes[..., 3] > 0.5, tf.int32)
    labels = tf.where(planes[..., 4] > 0, foreground, tf.fill(foreground.shape, IGNORE_LABEL))
    return planes[..., :3], labels


def _scale(planes: Any, factor: Any) -> Any:
    height, width, _ = planes.shape.as_list()
    size = tf.cast(tf.round(tf.stack([height * factor, width * factor])), tf.int32)
    # A mask blurred and cut at one half has smoother borders than a nearest-neighbour one.
    return layers.resize_bilinear(planes[tf.newaxis], size)[0]


def _crop(planes: Any, size: int, vertical: Any, horizontal: Any) -> Any:
    """Cuts a square at a position given in fractions; pads with zeros at random too."""
    starts, pads = [], []
    for axis, fraction in enumerate((vertical, horizontal)):
        room = tf.shape(planes)[axis] - size
        place = tf.cast(fraction * (tf.cast(tf.abs(room), tf.float32) + 1.0), tf.int32)
        place = tf.minimum(place, tf.abs(room))
        missing = tf.maximum(-room, 0)
        before = tf.minimum(place, missing)
        pads.append([before, missing - before])
        starts.append(tf.where(room > 0, place, 0))
    padded = tf.pad(planes, tf.stack([*pads, [0, 0]]))
    channels = planes.shape.as_list()[2]
    return tf.slice(padded, tf.stack([*starts, 0]), [size, size, channels])


def _flip(planes: Any, draws: list[Any]) -> Any:
    """Takes one of the eight symmetries of the square."""
    shape = planes.shape
    for draw, change in zip(draws, (_left_right, _up_down, _transpose), strict=True):
        planes = tf.cond(draw < 0.5, lambda p=planes, c=change: c(p), lambda p=planes: p)
    return tf.ensure_shape(planes, shape)


def _left_right(planes: Any) -> Any:
    return tf.reverse(planes, [1])


def _up_down(planes: Any) -> Any:
    return tf.reverse(planes, [0])


def _transpose(planes: Any) -> Any:
    return tf.transpose(planes, [1, 0, 2])
