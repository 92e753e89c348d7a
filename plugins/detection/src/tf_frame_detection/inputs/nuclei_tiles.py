"""Examples of the input `nuclei_boxes`: tiles of one image; for training, windows around them.

Every training example is a function of the seed and of its number in an endless stream that all
replicas share, so that a resumed run sees the windows that an uninterrupted one would have seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import InputContext
from tf_frame_detection.augmentation.labelled import Labelled, cut_to_image
from tf_frame_detection.inputs.detection_input import PADDING, make_labels
from tf_frame_detection.inputs.nuclei_grid import COLUMNS, ROWS, TILE_SIZE, TRAINING_ROWS
from tf_frame_detection.inputs.nuclei_outlines import Outlines, outlines
from tf_frame_vision.augmentation import draws
from tf_frame_vision.reading import pipeline

_WIDTH, _TRAINING_HEIGHT = COLUMNS * TILE_SIZE, TRAINING_ROWS * TILE_SIZE
# Columns are the images of one pixel down and one across.
_QUARTERS = [[[1, 0], [0, 1]], [[0, -1], [1, 0]], [[-1, 0], [0, -1]], [[0, 1], [-1, 0]]]
_FLIP = [[1, 0], [0, -1]]
_Padded = Callable[[dict[str, Any]], dict[str, Any]]


def training_tiles(folder: str, params: Any, context: InputContext, padded: _Padded) -> Any:
    """Returns endless batches of windows; replica k of n takes examples k, k + n, ...

    Args:
      folder: has image.png and instances.png.
      params: `tf_frame_detection.inputs.nuclei_boxes.Params`.
      context: batch size, seed and shard.
      padded: pads labels.
    """
    image = _decoded(folder)[:_TRAINING_HEIGHT]
    objects = outlines(_instances(folder), 0, 0, _TRAINING_HEIGHT, _WIDTH)
    count = TRAINING_ROWS * COLUMNS

    def example(number: Any) -> Any:
        tile = tf.cast(pipeline.shuffled(number, count=count, seed=context.seed), tf.int32)
        origin = tf.stack([tile // COLUMNS, tile % COLUMNS]) * TILE_SIZE
        if params.augment:
            seed = tf.stack([tf.constant(context.seed, tf.int64), number])
            *seeds, intensity_seed = draws.split(seed, 3)
            origin = _shifted(origin, seeds[0])
            labelled = _window(image, objects, origin, _turn(params, seeds[1]))
            low, high = 1 - params.intensity, 1 + params.intensity
            bright = labelled.image * draws.uniform(intensity_seed, low, high)
            labelled = labelled._replace(image=tf.minimum(bright, 255.0))
        else:
            labelled = _window(image, objects, origin, tf.eye(2))
        name = tf.strings.join(["tile ", tf.strings.as_string(tile)])
        return _named(labelled, name, params, padded)

    examples = pipeline.mapped(pipeline.training_numbers(context), example)
    return pipeline.batched(examples, context.batch_size, drop_remainder=True, padding=PADDING)


def validation_tiles(folder: str, params: Any, context: InputContext, padded: _Padded) -> Any:
    """Returns every validation tile once, whole and in order; see `training_tiles`."""
    image, instances = _decoded(folder), _instances(folder)
    numbers = list(range(TRAINING_ROWS * COLUMNS, ROWS * COLUMNS))
    origins = [(n // COLUMNS * TILE_SIZE, n % COLUMNS * TILE_SIZE) for n in numbers]
    tile_objects = [outlines(instances, *origin, TILE_SIZE, TILE_SIZE) for origin in origins]

    def ragged(name: str) -> Any:
        parts = [getattr(one, name) for one in tile_objects]
        return tf.RaggedTensor.from_row_lengths(np.concatenate(parts), [len(p) for p in parts])

    every = {name: ragged(name) for name in ("corners", "points", "cut")}
    places = tf.constant(origins)

    def example(number: Any, index: Any) -> Any:
        top, left = tf.unstack(places[index])
        cut = image[top : top + TILE_SIZE, left : left + TILE_SIZE]
        labelled = _labelled(cut, *(every[name][index] for name in ("points", "corners", "cut")))
        name = tf.strings.join(["tile ", tf.strings.as_string(tf.constant(numbers)[index])])
        return _named(labelled, name, params, padded)

    order = pipeline.evaluation_order(len(numbers), context)
    examples = pipeline.mapped(order, example)
    return pipeline.batched(examples, context.batch_size, drop_remainder=False, padding=PADDING)


def _decoded(folder: str) -> Any:
    """Returns the image, `[height, width, 3]` float32; the ops stand outside of the data set."""
    file = tf.io.read_file(os.path.join(folder, "image.png"))
    return tf.cast(tf.io.decode_png(file, channels=3), tf.float32)


def _instances(folder: str) -> Any:
    with Image.open(os.path.join(folder, "instances.png")) as image:
        return np.asarray(image)


def _shifted(origin: Any, seed: Any) -> Any:
    """Moves a window by up to half a tile, within the training part of the image."""
    half = TILE_SIZE // 2
    moves = tf.random.stateless_uniform([2], seed, -half, half + 1, tf.int32)
    last = tf.constant([_TRAINING_HEIGHT - TILE_SIZE, _WIDTH - TILE_SIZE])
    return tf.clip_by_value(origin + moves, 0, last)


def _turn(params: Any, seed: Any) -> Any:
    """Returns a random matrix `[2, 2]` that turns, scales and mirrors.

    Its columns are the images of one pixel down and one pixel across. Without resampling it is one
    of the eight symmetries of the square.
    """
    kind, angle_seed, scale_seed, flip, quarter = draws.split(seed, 5)
    angle = draws.uniform(angle_seed, 0.0, 2 * np.pi)
    scale = draws.uniform(scale_seed, params.min_scale_factor, params.max_scale_factor)
    sine, cosine = tf.sin(angle) * scale, tf.cos(angle) * scale
    free = tf.stack([[cosine, -sine], [sine, cosine]])
    exact = tf.constant(_QUARTERS, tf.float32)[draws.integer(quarter, 0, len(_QUARTERS))]
    turn = tf.where(draws.uniform(kind) < params.unresampled, exact, free)
    mirrored = tf.matmul(turn, tf.constant(_FLIP, tf.float32))
    return tf.where(draws.coin(flip), mirrored, turn)


def _window(image: Any, objects: Outlines, origin: Any, turn: Any) -> Labelled:
    """Cuts a tile at an origin out of the image, turned around its centre; beyond is black."""
    half = TILE_SIZE / 2
    centre = tf.cast(origin, tf.float32) + half
    back = tf.linalg.inv(turn)

    def moved(points: Any) -> Any:
        return tf.einsum("ij,...j->...i", turn, tf.constant(points) - centre) + half

    # From the centre of a pixel of the tile to that in the image, both counted from 0.
    start = centre - 0.5 + tf.linalg.matvec(back, tf.fill([2], 0.5 - half))
    (down_y, across_y), (down_x, across_x) = (tf.unstack(row) for row in tf.unstack(back))
    transform = tf.stack([across_x, down_x, start[1], across_y, down_y, start[0], 0.0, 0.0])
    pixels = tf.raw_ops.ImageProjectiveTransformV3(
        images=image[tf.newaxis],
        transforms=transform[tf.newaxis],
        output_shape=[TILE_SIZE, TILE_SIZE],
        fill_value=0.0,
        interpolation="BILINEAR",
        fill_mode="CONSTANT",
    )[0]
    return _labelled(
        pixels, moved(objects.points), moved(objects.corners), tf.constant(objects.cut)
    )


def _labelled(image: Any, points: Any, corners: Any, cut: Any) -> Labelled:
    """Returns an image with its objects; objects that reach beyond the image are ignored."""
    low, high = tf.reduce_min(points, axis=1), tf.reduce_max(points, axis=1)
    beyond = tf.reduce_any((low < 0) | (high > TILE_SIZE), axis=1)
    none = tf.zeros_like(cut)
    boxes = tf.concat([low, high], axis=1)
    classes = tf.cast(none, tf.int32)
    return cut_to_image(Labelled(image, boxes, classes, cut | beyond, none, corners))


def _named(labelled: Labelled, name: Any, params: Any, padded: _Padded) -> Any:
    size = tf.constant([TILE_SIZE, TILE_SIZE])
    image = tf.ensure_shape(labelled.image, [TILE_SIZE, TILE_SIZE, 3])
    features = {"image": image, "image_size": size, "original_size": size, "name": name}
    return features, padded(make_labels(labelled, rotated=params.rotated))
