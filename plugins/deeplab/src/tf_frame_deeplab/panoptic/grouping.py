"""Makes instances of heat map, offsets and classes: centres, groups, merging.

Steps of Panoptic-DeepLab (https://arxiv.org/abs/1911.10194, section 3.2): centres are maxima of the
heat map, a pixel belongs to the centre nearest to the target of its offset, and an instance has the
class of most of its pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def find_centers(heat: Any, *, threshold: float, window: int, max_instances: int) -> Any:
    """Returns the maxima of a heat map, the highest first.

    Args:
      heat: `[height, width]`.
      threshold: lower bound of a maximum.
      window: odd width of a square; a maximum is the greatest pixel of the square around it.
      max_instances: the most maxima to return.

    Returns:
      `[count, 2]` int32: row and column.
    """
    pooled = tf.nn.max_pool2d(heat[tf.newaxis, :, :, tf.newaxis], window, 1, "SAME")[0, :, :, 0]
    positions = tf.where(tf.logical_and(heat >= pooled, heat > threshold))
    count = tf.minimum(tf.shape(positions)[0], max_instances)
    order = tf.math.top_k(tf.gather_nd(heat, positions), count).indices
    return tf.cast(tf.gather(positions, order), tf.int32)


def group(centers: Any, offsets: Any) -> Any:
    """Gives each pixel the number of a centre.

    The loop takes one centre after another, so that memory does not grow with their number.

    Args:
      centers: `[count, 2]`, row and column.
      offsets: `[height, width, 2]`, pixels down and across to the centre.

    Returns:
      `[height, width]` int32: 1 for the first centre, and so on; 0 without a centre.
    """
    size = tf.shape(offsets)[:2]
    rows, columns = tf.meshgrid(tf.range(size[0]), tf.range(size[1]), indexing="ij")
    target = tf.cast(tf.stack([rows, columns], axis=2), tf.float32) + offsets
    places = tf.cast(centers, tf.float32)

    def compare(number: Any, nearest: Any, groups: Any) -> tuple[Any, Any, Any]:
        distance = tf.reduce_sum(tf.square(target - places[number]), axis=2)
        closer = distance < nearest
        return (
            number + 1,
            tf.where(closer, distance, nearest),
            tf.where(closer, tf.fill(size, number + 1), groups),
        )

    start = (tf.constant(0), tf.fill(size, tf.float32.max), tf.zeros(size, tf.int32))
    count = tf.shape(centers)[0]
    return tf.while_loop(lambda number, *_: number < count, compare, start)[2]


def merge(
    semantic: Any, groups: Any, *, thing_classes: Sequence[int], num_classes: int
) -> tuple[Any, Any]:
    """Joins classes and groups.

    Args:
      semantic: `[height, width]` int32, classes.
      groups: `[height, width]` int32, of `group`.
      thing_classes: classes that have instances.
      num_classes: number of classes.

    Returns:
      Classes, one for all pixels of an instance, and instances, 0 for pixels of
      other classes; both like the arguments.
    """
    is_thing = tf.one_hot(thing_classes, num_classes, axis=-1)
    is_thing = tf.reduce_max(is_thing, axis=0)
    instances = tf.where(tf.gather(is_thing, semantic) > 0, groups, tf.zeros_like(groups))
    pixels = tf.reshape(tf.one_hot(semantic, num_classes), [-1, num_classes])
    votes = tf.math.unsorted_segment_sum(
        pixels, tf.reshape(instances, [-1]), tf.reduce_max(instances) + 1
    )
    elected = tf.argmax(votes, axis=1, output_type=tf.int32)
    return tf.where(instances > 0, tf.gather(elected, instances), semantic), instances


def group_instances(
    semantic: Any,
    heat: Any,
    offsets: Any,
    *,
    threshold: float,
    window: int,
    max_instances: int,
    thing_classes: Sequence[int],
    num_classes: int,
) -> tuple[Any, Any]:
    """Makes the instances of a batch; see `find_centers`, `group` and `merge`.

    Args:
      semantic: `[batch, height, width]` int32, classes.
      heat: `[batch, height, width, 1]`.
      offsets: `[batch, height, width, 2]`.
      threshold, window, max_instances: of the centres.
      thing_classes: classes that have instances.
      num_classes: number of classes.

    Returns:
      Classes and instances, `[batch, height, width]` int32.
    """

    def group_image(image: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        centers = find_centers(
            image[1][..., 0], threshold=threshold, window=window, max_instances=max_instances
        )
        groups = group(centers, image[2])
        return merge(image[0], groups, thing_classes=thing_classes, num_classes=num_classes)

    types = (tf.int32, tf.int32)
    classes, instances = tf.map_fn(group_image, (semantic, heat, offsets), dtype=types)
    for result in (classes, instances):
        result.set_shape(semantic.shape)
    return classes, instances
