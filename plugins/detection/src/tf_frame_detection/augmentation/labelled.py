"""`Labelled`, an image with its objects, and the parts of its random changes.

Coordinates are pixels, as in `tf_frame_vision.augmentation.geometry`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import Sample
from tf_frame_vision.resizing import HALF_PIXEL


class Labelled(NamedTuple):
    """An image with its objects.

    Attributes:
      image: `[height, width, 3]` float32, 0 to 255.
      boxes: `[count, 4]` float32: upper, left, lower and right edge.
      classes: `[count]` int32.
      ignored: `[count]` bool: neither right nor wrong.
      crowd: `[count]` bool.
      corners: `[count, 4, 2]` float32, row and column, of rotated boxes, or of keypoints
        `[count, keypoints, 2]`; None without them.
      masks: `[height, width, count]`, see `augmentation.Sample`; None without them.
    """

    image: Any
    boxes: Any
    classes: Any
    ignored: Any
    crowd: Any
    corners: Any = None
    masks: Any = None


def apply_change(change: Callable[[Sample], Sample], labelled: Labelled) -> Labelled:
    """Applies a geometric change to the image and to all that moves with it."""
    corners, masks = labelled.corners, labelled.masks
    points = None if corners is None else tf.reshape(corners, [-1, 2])
    sample = change(Sample(labelled.image, masks, labelled.boxes, points))
    if corners is not None:
        corners = tf.reshape(sample.points, [-1, *corners.shape.as_list()[1:]])
    return labelled._replace(
        image=sample.image, boxes=sample.boxes, corners=corners, masks=sample.masks
    )


def apply_if(
    condition: Any, change: Callable[[Labelled], Labelled], labelled: Labelled
) -> Labelled:
    """Applies a change where a scalar bool holds; only then are its ops computed."""
    parts = {name: part for name, part in labelled._asdict().items() if part is not None}

    def changed() -> list[Any]:
        result = change(labelled)._asdict()
        return [result[name] for name in parts]

    chosen = tf.cond(condition, changed, lambda: list(parts.values()))
    return labelled._replace(**dict(zip(parts, chosen, strict=True)))


def keep_objects(labelled: Labelled, mask: Any) -> Labelled:
    """Leaves out objects.

    Args:
      mask: `[count]` bool, whether to keep an object.
    """
    objects = {
        name: tf.boolean_mask(part, mask, axis=2 if name == "masks" else 0)
        for name, part in labelled._asdict().items()
        if name != "image" and part is not None
    }
    return labelled._replace(**objects)


def cut_to_image(labelled: Labelled, least: Any = 0.0) -> Labelled:
    """Cuts boxes to the image, and leaves out objects that lose more than a share of their area.

    Corners are not cut, as a part of a rotated box is none.

    Args:
      least: share of a box's area that must lie within the image; an object without any is
        always left out.
    """
    clipped = augmentation.clip_boxes(Sample(labelled.image, boxes=labelled.boxes)).boxes
    visible_areas, box_areas = areas(clipped), areas(labelled.boxes)
    mask = (visible_areas > 0) & (visible_areas >= least * box_areas)
    return keep_objects(labelled._replace(boxes=clipped), mask)


def cut_window(labelled: Labelled, top: Any, left: Any, size: Any, least: Any) -> Labelled:
    """Cuts out a window of height and width `size`; see `cut_to_image`."""
    cut = apply_change(
        lambda sample: augmentation.crop(sample, top, left, size[0], size[1]), labelled
    )
    return cut_to_image(cut, least)


def pad_around(
    labelled: Labelled, top: Any, left: Any, target: Any, colour: Any = None
) -> Labelled:
    """Pads to a height and width.

    Args:
      top, left: row and column of the image's first pixel.
      target: height and width of the result.
      colour: value of each channel; None: the image's mean.
    """
    colour = tf.reduce_mean(labelled.image, [0, 1]) if colour is None else colour
    # tf.pad fills all channels alike, so the colour is taken out before and added afterwards.
    shifted = labelled._replace(image=labelled.image - colour)
    padded = apply_change(
        lambda sample: augmentation.pad(sample, top, left, target[0], target[1]), shifted
    )
    return padded._replace(image=padded.image + colour)


def areas(boxes: Any) -> Any:
    """Returns the areas of `[count, 4]` boxes."""
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def height_and_width(labelled: Labelled) -> Any:
    """Returns height and width, `[2]` int32."""
    return tf.shape(labelled.image)[:2]


def fit_to_size(
    labelled: Labelled,
    height: int,
    width: int,
    *,
    keep_aspect_ratio: bool,
    resizing: str = HALF_PIXEL,
) -> tuple[Labelled, Any]:
    """Resizes to a size, as the API's fixed_shape_resizer or keep_aspect_ratio_resizer.

    Args:
      height, width: of the result, in pixels.
      keep_aspect_ratio: the image becomes as large as fits, and is padded with black below or
        to the right of it.
      resizing: a key of `tf_frame_vision.resizing.PLACES`.

    Returns:
      The image, and height and width of the part that is not padding, `[2]` int32.
    """
    if not keep_aspect_ratio:
        resized = apply_change(
            lambda sample: augmentation.resize(sample, height, width, resizing), labelled
        )
        resized = resized._replace(image=tf.ensure_shape(resized.image, [height, width, 3]))
        return resized, tf.constant([height, width])
    size = tf.cast(height_and_width(labelled), tf.float32)
    factor = tf.reduce_min(tf.constant([height, width], tf.float32) / size)
    inner = tf.maximum(tf.cast(tf.round(size * factor), tf.int32), 1)

    def resized_and_padded(sample: Sample) -> Sample:
        sample = augmentation.resize(sample, inner[0], inner[1], resizing)
        return augmentation.pad(sample, 0, 0, height, width)

    padded = apply_change(resized_and_padded, labelled)
    return padded._replace(image=tf.ensure_shape(padded.image, [height, width, 3])), inner
