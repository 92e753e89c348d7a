"""Anchors: boxes of given sizes around each cell of a network's feature maps.

All are `[count, 4]` float32 in pixels of the image, and may lie partly outside of it. The order is
that of the reshaped outputs of a box predictor, `[height, width, shapes]`: feature maps, rows,
columns, shapes. Height and width of a feature map may be integers or scalar tensors. An aspect
ratio is the width over the height; both sides are changed by its root, so that it keeps the area.

The equations are those of the object detection API (tensorflow/models,
research/object_detection/anchor_generators).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

# Scale and aspect ratio of an anchor.
Shape = tuple[float, float]


def grid_anchors(
    feature_size: Any,
    *,
    scales: Sequence[float] = (0.5, 1.0, 2.0),
    aspect_ratios: Sequence[float] = (0.5, 1.0, 2.0),
    base_size: Any = (256.0, 256.0),
    stride: Any = (16.0, 16.0),
    offset: Any = (0.0, 0.0),
) -> Any:
    """Returns anchors of each scale and aspect ratio; the scale changes fastest.

    Args:
      feature_size: height and width of the feature map.
      scales: factors of `base_size`.
      aspect_ratios: see above.
      base_size: height and width in pixels of scale and ratio 1.
      stride: pixels from cell to cell, down and across.
      offset: row and column in pixels of the first cell's centre. The defaults are those of
        the API's `GridAnchorGenerator`.
    """
    shapes = [(scale, ratio) for ratio in aspect_ratios for scale in scales]
    return _tiled(feature_size, shapes, base_size, stride, offset)


def multiscale_anchors(
    feature_sizes: Sequence[Any],
    strides: Sequence[float],
    *,
    anchor_scale: float = 4.0,
    scales_per_octave: int = 3,
    aspect_ratios: Sequence[float] = (0.5, 1.0, 2.0),
    image_size: Any = None,
) -> Any:
    """Returns the anchors of RetinaNet: on each level, scales within an octave.

    The defaults are those of the paper (https://arxiv.org/abs/1708.02002, section 4: sides of 32
    to 512 at strides of 8 to 128, three scales and three aspect ratios).

    Args:
      feature_sizes: height and width of each level.
      strides: of each level, in pixels.
      anchor_scale: side of the smallest square anchor over the stride.
      scales_per_octave: number of scales; each is larger by 2 ** (1 / scales_per_octave).
      aspect_ratios: see above.
      image_size: height and width of the image. As in the API, along a side that the stride
        does not divide the first centre then is at 0. Without it all are at half a stride.
    """
    scales = [2 ** (i / scales_per_octave) for i in range(scales_per_octave)]
    levels = [
        grid_anchors(
            feature_size,
            scales=scales,
            aspect_ratios=aspect_ratios,
            base_size=(anchor_scale * stride,) * 2,
            stride=(stride, stride),
            offset=_offset(stride, image_size),
        )
        for feature_size, stride in zip(feature_sizes, strides, strict=True)
    ]
    return tf.concat(levels, axis=0)


def ssd_shapes(
    num_layers: int,
    *,
    min_scale: float = 0.2,
    max_scale: float = 0.95,
    scales: Sequence[float] = (),
    aspect_ratios: Sequence[float] = (1.0, 2.0, 0.5, 3.0, 1 / 3),
    interpolated_aspect_ratio: float = 1.0,
    reduce_lowest_layer: bool = True,
) -> list[list[Shape]]:
    """Returns scale and aspect ratio of each anchor at a cell, for each layer.

    As in section 2.2 of SSD (https://arxiv.org/abs/1512.02325) and `create_ssd_anchors` of the
    API, whose defaults these are; the order of the ratios is that of its published SSD models.

    Args:
      num_layers: number of feature maps, from the largest one.
      min_scale, max_scale: of the first and last layer; between them scales are linear.
      scales: of each layer, instead of `min_scale` and `max_scale`.
      aspect_ratios: of anchors of a layer's scale.
      interpolated_aspect_ratio: of one more anchor, whose scale is the geometric mean of this
        and the next layer's (1 after the last); 0: there is none.
      reduce_lowest_layer: whether the first layer has three shapes: scale 0.1 with ratio
        1, and its scale with ratios 2 and 1/2.
    """
    of_layers = [*(scales or np.linspace(min_scale, max_scale, num_layers).tolist()), 1.0]
    shapes = []
    for scale, following in itertools.pairwise(of_layers):
        layer = [(scale, ratio) for ratio in aspect_ratios]
        if interpolated_aspect_ratio:
            layer.append(((scale * following) ** 0.5, interpolated_aspect_ratio))
        shapes.append(layer)
    if reduce_lowest_layer:
        shapes[0] = [(0.1, 1.0), (of_layers[0], 2.0), (of_layers[0], 0.5)]
    return shapes


def ssd_anchors(
    feature_sizes: Sequence[Any],
    image_size: Any,
    shapes: Sequence[Sequence[Shape]] | None = None,
    *,
    base_size: tuple[float, float] = (1.0, 1.0),
) -> Any:
    """Returns the anchors of SSD, centred in the cells that divide the image evenly.

    Args:
      feature_sizes: height and width of each feature map, from the largest one.
      image_size: height and width of the image in pixels, two numbers or tensors.
      shapes: of each layer, see `ssd_shapes`; None: its defaults.
      base_size: height and width of scale and ratio 1, as shares of the image's shorter side.
    """
    image = [tf.cast(side, tf.float32) for side in _pair(image_size)]
    shorter = tf.minimum(*image)
    base = [shorter * side for side in base_size]
    layers = []
    for size, layer in zip(feature_sizes, shapes or ssd_shapes(len(feature_sizes)), strict=True):
        stride = [i / tf.cast(f, tf.float32) for i, f in zip(image, _pair(size), strict=True)]
        layers.append(_tiled(size, layer, base, stride, [side / 2 for side in stride]))
    return tf.concat(layers, axis=0)


def _tiled(feature_size: Any, shapes: Sequence[Shape], base: Any, stride: Any, offset: Any) -> Any:
    """Boxes of each shape around each cell, `[height * width * shapes, 4]`."""
    scales, ratios = np.array(shapes, np.float32).T
    roots = np.sqrt(ratios)
    sides = tf.stack([scales / roots * base[0], scales * roots * base[1]])
    lines = [
        tf.cast(tf.range(count), tf.float32) * step + first
        for count, step, first in zip(_pair(feature_size), stride, offset, strict=True)
    ]
    centers = tf.stack(tf.meshgrid(*lines, indexing="ij"), axis=-1)[:, :, tf.newaxis]
    half = tf.transpose(sides) / 2
    return tf.reshape(tf.concat([centers - half, centers + half], axis=-1), [-1, 4])


def _offset(stride: float, image_size: Any) -> list[Any]:
    if image_size is None:
        return [stride / 2, stride / 2]
    divides = [tf.equal(tf.cast(side, tf.float32) % stride, 0) for side in _pair(image_size)]
    return [tf.cast(each, tf.float32) * (stride / 2) for each in divides]


def _pair(sizes: Any) -> tuple[Any, Any]:
    """Returns height and width of two numbers or tensors, or of one tensor `[2]`."""
    return sizes[0], sizes[1]
