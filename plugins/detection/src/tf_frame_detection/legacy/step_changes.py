"""Changes of image and objects that only the API's pipeline files have.

Names and defaults: tensorflow/models, research/object_detection/core/preprocessor.py. Each function
takes an example, a seed of `[2]` integers and its own options, as in `augmentation.changes`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.augmentation import crops
from tf_frame_detection.augmentation.labelled import (
    Labelled,
    apply_change,
    apply_if,
    cut_window,
    height_and_width,
    keep_objects,
    pad_around,
)
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import draws

_WHITE = 255.0
_SSD_OVERLAPS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
SAME, TWICE = (1.0, 1.0), (2.0, 2.0)


def turn(
    labelled: Labelled,
    seed: Any,
    *,
    change: Callable[..., Any],
    probability: float = 0.5,
    permutation: Sequence[int] = (),
) -> Labelled:
    """Flips or rotates at times; `permutation` is the order of the keypoints afterwards."""

    def changed(of: Labelled) -> Labelled:
        of = apply_change(change, of)
        if not permutation or of.corners is None:
            return of
        return of._replace(corners=tf.gather(of.corners, list(permutation), axis=1))

    return apply_if(draws.uniform(seed) < probability, changed, labelled)


def resize(
    labelled: Labelled, seed: Any, *, size: Sequence[int], methods: Sequence[int]
) -> Labelled:
    """Resizes by one of several methods of `tf.image.ResizeMethod`; masks by the nearest pixel."""
    height, width = size
    resized = apply_change(lambda sample: augmentation.resize(sample, height, width), labelled)
    makers = [functools.partial(_resized_image, labelled.image, size, method) for method in methods]
    return resized._replace(image=draws.choose(makers, seed))


def _resized_image(image: Any, size: Sequence[int], method: int) -> Any:
    return tf.cast(tf.image.resize_images(image, size, method), tf.float32)


def downscale(
    labelled: Labelled,
    seed: Any,
    *,
    min_target_pixels: int = 300000,
    max_target_pixels: int = 800000,
    random_coef: float = 0.0,
) -> Labelled:
    """Makes an image smaller that has more than a random number of pixels.

    `random_coef` is the probability that nothing is changed, here and below.
    """
    whether, how = draws.split(seed, 2)
    pixels = tf.cast(draws.integer(how, min_target_pixels, max_target_pixels), tf.float32)
    size = tf.cast(height_and_width(labelled), tf.float32)
    factor = tf.sqrt(pixels / tf.reduce_prod(size))
    target = tf.cast(size * factor, tf.int32)
    needed = (draws.uniform(whether) >= random_coef) & (factor < 1.0)
    return apply_if(
        needed,
        lambda of: apply_change(lambda s: augmentation.resize(s, target[0], target[1]), of),
        labelled,
    )


def pad(
    labelled: Labelled, seed: Any, *, least: Any = None, most: Any = None, colour: Any = None
) -> Labelled:
    """Pads to a random height and width; the image stands at a random place.

    Args:
      least, most: limits of height and width; None: those of the image, and twice those.
      colour: see `pad_around`.
    """
    size = height_and_width(labelled)
    least = size if least is None else tf.maximum(tf.cast(least, tf.int32), size)
    most = 2 * size if most is None else tf.cast(most, tf.int32)
    most = tf.maximum(most, least)
    seeds = draws.split(seed, 4)
    target = tf.stack([draws.integer(seeds[k], least[k], most[k] + 1) for k in range(2)])
    top, left = (draws.integer(seeds[2 + k], 0, target[k] - size[k] + 1) for k in range(2))
    return pad_around(labelled, top, left, target, colour)


def pad_by_pixels(
    labelled: Labelled, seed: Any, *, most: Sequence[int], colour: Any = None
) -> Labelled:
    """Pads by up to so many pixels in height and width; see `pad`."""
    return pad(labelled, seed, most=height_and_width(labelled) + list(most), colour=colour)


def crop_and_pad(
    labelled: Labelled,
    seed: Any,
    *,
    crop: Mapping[str, float],
    min_ratio: Sequence[float] = SAME,
    max_ratio: Sequence[float] = TWICE,
    colour: Any = None,
) -> Labelled:
    """Applies `random_crop_image`, then `pad`; the ratios are of the size before the crop."""
    first, second = draws.split(seed, 2)
    size = tf.cast(height_and_width(labelled), tf.float32)
    least, most = (tf.cast(size * list(ratio), tf.int32) for ratio in (min_ratio, max_ratio))
    cut = crops.random_crop_image(labelled, first, **crop)
    return pad(cut, second, least=least, most=most, colour=colour)


def pad_to_aspect_ratio(
    labelled: Labelled,
    seed: Any,
    *,
    aspect_ratio: float = 1.0,
    min_ratio: Sequence[float] = SAME,
    max_ratio: Sequence[float] = TWICE,
) -> Labelled:
    """Pads with black below and to the right, to a random size of an aspect ratio."""
    size = tf.cast(height_and_width(labelled), tf.float32)
    target = tf.maximum(size, tf.stack([size[1] / aspect_ratio, size[0] * aspect_ratio]))
    low, high = (
        tf.maximum(size * list(ratio), target) / target for ratio in (min_ratio, max_ratio)
    )
    most = tf.reduce_min(high)
    scale = draws.uniform(seed, tf.minimum(most, tf.reduce_max(low)), most)
    target = tf.maximum(tf.cast(tf.round(scale * target), tf.int32), height_and_width(labelled))
    return pad_around(labelled, 0, 0, target, tf.zeros([labelled.image.shape[-1]]))


def ssd_crops(aspect_ratios: tuple[float, float]) -> list[Callable[[Labelled, Any], Labelled]]:
    """Returns SSD's crops, with a least overlap of 0 to 1 each, for `one_of`."""
    least, greatest = aspect_ratios
    return [
        functools.partial(
            crops.random_crop_image,
            min_object_covered=overlap,
            min_aspect_ratio=least,
            max_aspect_ratio=greatest,
            overlap_thresh=overlap,
            random_coef=0.15,
        )
        for overlap in _SSD_OVERLAPS
    ]


def one_of(
    labelled: Labelled, seed: Any, *, changes: Sequence[Callable[[Labelled, Any], Labelled]]
) -> Labelled:
    """Applies one of several changes, all equally likely."""
    which, how = draws.split(seed, 2)
    parts = [name for name, part in labelled._asdict().items() if part is not None]

    def make(change: Callable[[Labelled, Any], Labelled]) -> list[Any]:
        result = change(labelled, how)._asdict()
        return [result[name] for name in parts]

    chosen = draws.choose([functools.partial(make, change) for change in changes], which)
    return labelled._replace(**dict(zip(parts, chosen, strict=True)))


def in_turn(
    labelled: Labelled, seed: Any, *, changes: Sequence[Callable[[Labelled, Any], Labelled]]
) -> Labelled:
    """Applies several changes, one after the other."""
    for change, own_seed in zip(changes, draws.split(seed, len(changes)), strict=True):
        labelled = change(labelled, own_seed)
    return labelled


def square_crop(
    labelled: Labelled,
    seed: Any,
    *,
    max_border: int = 128,
    scale_min: float = 0.6,
    scale_max: float = 1.3,
    num_scales: int = 8,
) -> Labelled:
    """Cuts a square of a random size around a random centre, with black outside of the image.

    Args:
      max_border: distance of the centre from the edges, halved as often as a small image needs.
      scale_min, scale_max, num_scales: side of the square, a share of the longer side.
    """
    which, down, across = draws.split(seed, 3)
    size = height_and_width(labelled)
    scale = tf.linspace(scale_min, scale_max, num_scales)[draws.integer(which, 0, num_scales)]
    side = tf.cast(scale * tf.cast(tf.reduce_max(size), tf.float32), tf.int32)
    halvings = tf.ceil(tf.log(2.0 * max_border / tf.cast(size, tf.float32)) / tf.log(2.0))
    border = max_border // tf.cast(
        tf.clip_by_value(2.0**halvings, 1.0, float(max_border)), tf.int32
    )
    centre = [
        draws.integer(own_seed, border[k], size[k] - border[k] + 1)
        for k, own_seed in enumerate((down, across))
    ]
    black = tf.zeros([labelled.image.shape[-1]])
    padded = pad_around(labelled, side, side, size + 2 * side, black)
    top, left = (position + side - side // 2 for position in centre)
    return cut_window(padded, top, left, [side, side], 0.0)


def self_concat(
    labelled: Labelled,
    seed: Any,
    *,
    concat_vertical_probability: float = 0.1,
    concat_horizontal_probability: float = 0.1,
) -> Labelled:
    """Puts the image below itself, and beside itself, with its objects, at times."""
    probabilities = (concat_vertical_probability, concat_horizontal_probability)
    for axis, own_seed in enumerate(draws.split(seed, 2)):
        wanted = draws.uniform(own_seed) < probabilities[axis]
        labelled = apply_if(wanted, functools.partial(_doubled, axis=axis), labelled)
    return labelled


def _doubled(labelled: Labelled, axis: int) -> Labelled:
    size = height_and_width(labelled)
    target = size * (tf.one_hot(axis, 2, dtype=tf.int32) + 1)
    offset = target - size
    first = pad_around(labelled, 0, 0, target, 0.0)
    second = pad_around(labelled, offset[0], offset[1], target, 0.0)
    objects = {
        name: tf.concat([part, getattr(second, name)], 2 if name == "masks" else 0)
        for name, part in first._asdict().items()
        if part is not None and name != "image"
    }
    return labelled._replace(image=first.image + second.image, **objects)


def drop_label(
    labelled: Labelled, seed: Any, *, labels: Any, label: int, drop_probability: float
) -> Labelled:
    """Leaves out objects of a class, each with a probability; `labels` are the classes."""
    kept = tf.random.stateless_uniform(tf.shape(labels), seed) > drop_probability
    return keep_objects(labelled, kept | tf.not_equal(labels, tf.cast(label, labels.dtype)))


def jitter_boxes(
    labelled: Labelled, seed: Any, *, ratio: float = 0.05, mode: str = "default"
) -> Labelled:
    """Changes the distance of each edge of a box from its centre by up to a share.

    Boxes stay within the image.

    Args:
      mode: `default`, `expand` or `shrink`; `_symmetric` changes opposite edges alike,
        `_symmetric_xy` all four.
    """
    sides = tf.tile(tf.cast(height_and_width(labelled), tf.float32), [2])
    low, high = (0.0 if part in mode else ratio for part in ("expand", "shrink"))
    columns = 1 if mode.endswith("_xy") else 2 if mode.endswith("_symmetric") else 4
    shape = [tf.shape(labelled.boxes)[0], columns]
    factors = 1.0 + tf.random.stateless_uniform(shape, seed, -low, high)
    factors = tf.tile(factors, [1, 4 // columns])
    boxes = labelled.boxes
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2.0
    half = tf.maximum(tf.abs(boxes[:, 2:] - boxes[:, :2]), 1e-6) / 2.0
    if columns < 4:  # Opposite edges stop where the first of them meets an edge of the image.
        room = tf.minimum(centre, sides[:2] - centre) / half
        room = tf.reduce_min(room, axis=1, keepdims=True) if columns == 1 else room
        factors = tf.minimum(factors, tf.tile(room, [1, 4 // room.shape[1]]))
    moves = factors * tf.tile(half, [1, 2]) * [-1.0, -1.0, 1.0, 1.0]
    return labelled._replace(boxes=tf.clip_by_value(tf.tile(centre, [1, 2]) + moves, 0.0, sides))


def black_patches(
    labelled: Labelled,
    seed: Any,
    *,
    max_black_patches: int = 10,
    probability: float = 0.5,
    size_to_image_ratio: float = 0.1,
) -> Labelled:
    """Covers up to some squares, each with a probability; a side is a share of the shorter one."""
    size = tf.cast(height_and_width(labelled), tf.float32)
    side = tf.floor(tf.reduce_min(size) * size_to_image_ratio)
    image = labelled.image
    for own_seed in draws.split(seed, max_black_patches):
        whether, down, across = draws.split(own_seed, 3)
        room = 1.0 - size_to_image_ratio
        begin = [
            tf.floor(draws.uniform(s, 0.0, room) * size[k]) for k, s in enumerate((down, across))
        ]
        # A patch of no height covers nothing.
        height = tf.where(draws.uniform(whether) <= probability, side, 0.0)
        image *= 1.0 - _rectangle(size, begin, [height, side])
    return labelled._replace(image=image)


def _rectangle(size: Any, begin: Sequence[Any], sides: Sequence[Any]) -> Any:
    """Returns 1 within a rectangle and 0 elsewhere, `[height, width, 1]`."""
    rows, columns = (
        tf.cast(
            (tf.range(size[k]) >= begin[k]) & (tf.range(size[k]) < begin[k] + sides[k]), tf.float32
        )
        for k in range(2)
    )
    return rows[:, None, None] * columns[None, :, None]


def jpeg_quality(
    labelled: Labelled,
    seed: Any,
    *,
    min_jpeg_quality: int = 0,
    max_jpeg_quality: int = 100,
    random_coef: float = 0.0,
) -> Labelled:
    """Encodes the image as JPEG of a random quality, and decodes it."""
    whether, how = draws.split(seed, 2)
    quality = draws.integer(how, min_jpeg_quality, max_jpeg_quality)

    def encoded(of: Labelled) -> Labelled:
        pixels = tf.image.adjust_jpeg_quality(tf.cast(of.image, tf.uint8), quality)
        return of._replace(image=tf.reshape(tf.cast(pixels, tf.float32), tf.shape(of.image)))

    return apply_if(draws.uniform(whether) >= random_coef, encoded, labelled)


def patch_gaussian(
    labelled: Labelled,
    seed: Any,
    *,
    min_patch_size: int = 1,
    max_patch_size: int = 250,
    min_gaussian_stddev: float = 0.0,
    max_gaussian_stddev: float = 1.0,
    random_coef: float = 0.0,
) -> Labelled:
    """Adds noise to a square around a random centre (Lopes et al., arXiv:1906.02611).

    Args:
      min_patch_size, max_patch_size: side of the square, in pixels.
      min_gaussian_stddev, max_gaussian_stddev: of the noise, a share of white.
    """
    whether, sides, deviation, down, across, values = draws.split(seed, 6)
    size = height_and_width(labelled)
    side = draws.integer(sides, min_patch_size, max_patch_size)
    begin = [draws.integer(s, 0, size[k]) - side // 2 for k, s in enumerate((down, across))]
    stddev = draws.uniform(deviation, min_gaussian_stddev, max_gaussian_stddev) * _WHITE
    noise = stddev * tf.random.stateless_normal(tf.shape(labelled.image), values)

    def noisy(of: Labelled) -> Labelled:
        inside = _rectangle(size, begin, [side, side])
        changed = tf.clip_by_value(of.image + noise, 0.0, _WHITE)
        return of._replace(image=inside * changed + (1.0 - inside) * of.image)

    return apply_if(draws.uniform(whether) >= random_coef, noisy, labelled)
