"""Geometric changes of an image, which its masks, boxes and points follow exactly.

After an augmentation the labels of segmentation and detection must still lie on their objects.
Coordinates are in pixels, from the upper left corner of the image to its lower right one,
`[height, width]`: the pixel in row 0 and column 0 covers 0 to 1, and its centre is at 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.resizing import HALF_PIXEL, PLACES


class Sample(NamedTuple):
    """An image with its masks, boxes and points; parts that are not given stay None.

    Attributes:
      image: `[height, width, channels]`.
      masks: `[height, width, count]`: bool, whether a pixel belongs to an object; integer,
        its label; or float32.
      boxes: `[count, 4]` float32: upper, left, lower and right edge.
      points: `[count, 2]` float32: distance from the upper and from the left edge.
    """

    image: Any
    masks: Any = None
    boxes: Any = None
    points: Any = None


def flip_left_right(sample: Sample) -> Sample:
    """Mirrors the image, left to right."""
    width = _sides(sample)[1]
    return _changed(
        sample,
        lambda pixels: tf.reverse(pixels, [1]),
        lambda upper, left, lower, right: (upper, width - right, lower, width - left),
    )


def flip_up_down(sample: Sample) -> Sample:
    """Mirrors the image, top to bottom."""
    height = _sides(sample)[0]
    return _changed(
        sample,
        lambda pixels: tf.reverse(pixels, [0]),
        lambda upper, left, lower, right: (height - lower, left, height - upper, right),
    )


def transpose(sample: Sample) -> Sample:
    """Exchanges rows and columns."""
    return _changed(
        sample,
        lambda pixels: tf.transpose(pixels, [1, 0, 2]),
        lambda upper, left, lower, right: (left, upper, right, lower),
    )


def rotate_90(sample: Sample, turns: int = 1) -> Sample:
    """Rotates counter-clockwise, as `tf.image.rot90` does.

    Args:
      turns: quarters of a whole turn.
    """
    turns %= 4
    if turns == 0:
        return sample
    if turns == 2:
        return flip_up_down(flip_left_right(sample))
    return (flip_up_down if turns == 1 else flip_left_right)(transpose(sample))


def resize(sample: Sample, height: Any, width: Any, resizing: str = HALF_PIXEL) -> Sample:
    """Resizes by bilinear interpolation; boxes and points keep their shares of height and width.

    Of masks, labels take the nearest neighbour, and bool is cut at one half, which
    leaves smoother borders.

    Args:
      sample: the image and its marks; the image comes back as float32.
      height, width: of the result, in pixels.
      resizing: a key of `tf_frame_vision.resizing.PLACES`.
    """
    size, places = tf.stack([height, width]), PLACES[resizing]
    rows, columns = (
        new / old for new, old in zip(_floats(height, width), _sides(sample), strict=True)
    )
    resized = sample._replace(image=_bilinear(sample.image, size, places))
    if sample.masks is not None:
        resized = resized._replace(masks=_resized_masks(sample.masks, size, places))
    return _moved(
        resized,
        lambda upper, left, lower, right: (
            *(upper * rows, left * columns),
            *(lower * rows, right * columns),
        ),
    )


def scale(sample: Sample, factor: Any, resizing: str = HALF_PIXEL) -> Sample:
    """Resizes height and width by one factor, rounded to whole pixels; see `resize`."""
    height, width = _sides(sample)
    size = tf.cast(tf.round(tf.stack([height * factor, width * factor])), tf.int32)
    return resize(sample, size[0], size[1], resizing)


def crop(sample: Sample, top: Any, left: Any, height: Any, width: Any) -> Sample:
    """Cuts out a window.

    Boxes and points outside of the window are kept, with coordinates outside of the result;
    `clip_boxes` cuts boxes to it.

    Args:
      top, left: first row and column of the window, which lies within the image.
      height, width: of the window, in pixels.
    """

    def cut(pixels: Any) -> Any:
        count = pixels.shape.as_list()[2]
        # -1: all channels, of masks whose number is unknown.
        size = [height, width, -1 if count is None else count]
        return tf.slice(pixels, tf.stack([top, left, 0]), size)

    down, across = _floats(top, left)
    return _changed(sample, cut, _shift(-down, -across))


def pad(
    sample: Sample,
    top: Any,
    left: Any,
    height: Any,
    width: Any,
    *,
    fill: float = 0,
    mask_fill: float = 0,
) -> Sample:
    """Surrounds the image by further pixels.

    Args:
      top, left: row and column of the image's first pixel in the result.
      height, width: of the result, in pixels; not less than the image needs there.
      fill: value of the pixels that are added.
      mask_fill: their value in masks; of bool masks it is False.
    """
    shape = tf.shape(sample.image)
    edges = tf.stack([[top, height - top - shape[0]], [left, width - left - shape[1]], [0, 0]])
    padded = sample._replace(image=tf.pad(sample.image, edges, constant_values=fill))
    if sample.masks is not None:
        value = False if sample.masks.dtype == tf.bool else mask_fill
        padded = padded._replace(masks=tf.pad(sample.masks, edges, constant_values=value))
    return _moved(padded, _shift(*_floats(top, left)))


def crop_or_pad(
    sample: Sample,
    height: int,
    width: int,
    *,
    down: Any = 0.5,
    across: Any = 0.5,
    fill: float = 0,
    mask_fill: float = 0,
) -> Sample:
    """Crops or pads height and width, each as its size requires.

    Args:
      height, width: of the result, in pixels.
      down, across: position of the window in the image, or of the image in the window: 0
        at the upper and left edge, almost 1 at the lower and right edge.
      fill: see `pad`.
      mask_fill: see `pad`.
    """
    size = tf.shape(sample.image)[:2]
    room = size - tf.constant([height, width])
    fractions = tf.stack(_floats(down, across))
    # A uniform fraction makes each number of pixels from 0 to `room` equally likely.
    offset = tf.cast(fractions * (tf.cast(tf.abs(room), tf.float32) + 1.0), tf.int32)
    offset = tf.minimum(offset, tf.abs(room))
    none = tf.zeros_like(offset)
    begin, before = tf.where(room > 0, offset, none), tf.where(room < 0, offset, none)
    padded_size = tf.maximum(size, [height, width])
    padded = pad(
        sample, before[0], before[1], padded_size[0], padded_size[1], fill=fill, mask_fill=mask_fill
    )
    return crop(padded, begin[0], begin[1], height, width)


def clip_boxes(sample: Sample) -> Sample:
    """Cuts boxes to the image; a box outside of it has no area left."""
    height, width = _sides(sample)

    def clip(*edges: Any) -> tuple[Any, ...]:
        limits = (height, width, height, width)
        return tuple(
            tf.clip_by_value(edge, 0.0, limit) for edge, limit in zip(edges, limits, strict=True)
        )

    return sample._replace(boxes=_edges_changed(sample.boxes, clip))


# A function from the top, left, bottom and right edges of boxes, each `[count]`, to new ones.
_Edges = Callable[..., tuple[Any, ...]]


def _changed(sample: Sample, pixels: Callable[[Any], Any], edges: _Edges) -> Sample:
    """Changes image and masks by one function, boxes and points by another."""
    masks = None if sample.masks is None else pixels(sample.masks)
    return _moved(sample._replace(image=pixels(sample.image), masks=masks), edges)


def _moved(sample: Sample, edges: _Edges) -> Sample:
    """Changes boxes, and points as boxes without height and width."""
    if sample.boxes is not None:
        sample = sample._replace(boxes=_edges_changed(sample.boxes, edges))
    if sample.points is not None:
        twice = tf.concat([sample.points, sample.points], axis=1)
        sample = sample._replace(points=_edges_changed(twice, edges)[:, :2])
    return sample


def _edges_changed(boxes: Any, edges: _Edges) -> Any:
    return tf.stack(edges(*tf.unstack(boxes, 4, axis=1)), axis=1)


def _shift(down: Any, across: Any) -> _Edges:
    return lambda upper, left, lower, right: (
        *(upper + down, left + across),
        *(lower + down, right + across),
    )


def _bilinear(pixels: Any, size: Any, places: Mapping[str, bool]) -> Any:
    return layers.resize_bilinear(pixels[tf.newaxis], size, **places)[0]


def _resized_masks(masks: Any, size: Any, places: Mapping[str, bool]) -> Any:
    if masks.dtype == tf.bool:
        return _bilinear(tf.cast(masks, tf.float32), size, places) > 0.5
    if masks.dtype.is_floating:
        return _bilinear(masks, size, places)
    return tf.raw_ops.ResizeNearestNeighbor(images=masks[tf.newaxis], size=size, **places)[0]


def _sides(sample: Sample) -> tuple[Any, Any]:
    """Returns height and width as float32."""
    height, width = tf.unstack(tf.cast(tf.shape(sample.image)[:2], tf.float32))
    return height, width


def _floats(*values: Any) -> list[Any]:
    return [tf.cast(value, tf.float32) for value in values]
