"""Labels of the heads for instances and edges, made from a map of instances.

Labels are made after a crop was scaled, cut and mirrored: offsets depend on all three, and the
centre of a cut instance lies in its remainder.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.heads import CENTER, EDGE, INSTANCES, OFFSET

# Radius of the Gaussian of a centre, in standard deviations.
_REACH = 3.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Targets:
    """Makes the labels.

    Attributes:
      center_sigma: standard deviation of the Gaussian around a centre, in pixels.
      edge_width: width of a square, in pixels, odd; a pixel is an edge if the square around it
        is not all of one instance.
      ignore_label: edge label of pixels that do not count.
    """

    center_sigma: float
    edge_width: int
    ignore_label: int

    def __call__(self, instances: Any, counts: Any) -> dict[str, Any]:
        """Returns the labels by name.

        Args:
          instances: `[height, width]` int32, number of the instance, 0 for none.
          counts: `[height, width]` bool, False for pixels that do not count.

        Returns:
          `instances`, as given; `instance_center`, `[height, width, 1]`, 0 to 1;
          `instance_offset`, `[height, width, 3]`: pixels down and across to the centre,
          and 1 for a pixel of an instance; `edge`, `[height, width]` int32.
        """
        centers, index, numbers = _centers(instances)
        positions = _positions(instances)
        inside = tf.cast(instances > 0, tf.float32)[..., tf.newaxis]
        offsets = (tf.reshape(tf.gather(centers, index), tf.shape(positions)) - positions) * inside
        return {
            INSTANCES: instances,
            CENTER: _heat_map(
                tf.boolean_mask(centers, numbers > 0), tf.shape(instances), self.center_sigma
            ),
            OFFSET: tf.concat([offsets, inside], axis=2),
            EDGE: edge_labels(instances, counts, self.edge_width, self.ignore_label),
        }


def edge_labels(instances: Any, counts: Any, width: int, ignore_label: int) -> Any:
    """Returns 1 for edges, 0 for other pixels, `ignore_label` for pixels that do not count.

    Args:
      instances, counts, width: see `edge_map`.
      ignore_label: label of pixels that do not count.
    """
    edges = tf.cast(edge_map(instances, counts, width), tf.int32)
    return tf.where(counts, edges, tf.fill(tf.shape(edges), ignore_label))


def edge_map(instances: Any, counts: Any, width: int) -> Any:
    """Marks pixels near which there is more than one instance, or an instance and none.

    Args:
      instances: `[height, width]` integers, instances or classes.
      counts: `[height, width]` bool; other pixels are no neighbours and no edges.
      width: width of the square around a pixel, in pixels.

    Returns:
      `[height, width]` bool.
    """
    values = tf.cast(instances, tf.float32)
    lowest = tf.fill(tf.shape(values), values.dtype.min)

    def greatest(values: Any) -> Any:
        window = tf.where(counts, values, lowest)[tf.newaxis, :, :, tf.newaxis]
        return tf.nn.max_pool2d(window, width, 1, "SAME")[0, :, :, 0]

    return tf.logical_and(counts, tf.not_equal(greatest(values), -greatest(-values)))


def _centers(instances: Any) -> tuple[Any, Any, Any]:
    """Returns centres of mass `[count, 2]`, the index for each pixel, row by row, and numbers."""
    numbers, index = tf.unique(tf.reshape(instances, [-1]))
    positions = tf.reshape(_positions(instances), [-1, 2])
    return tf.math.unsorted_segment_mean(positions, index, tf.size(numbers)), index, numbers


def _positions(image: Any) -> Any:
    """Returns row and column of each pixel, `[height, width, 2]` float32."""
    height, width = tf.unstack(tf.shape(image)[:2])
    rows, columns = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
    return tf.cast(tf.stack([rows, columns], axis=2), tf.float32)


def _heat_map(centers: Any, size: Any, sigma: float) -> Any:
    """Returns the greatest of the Gaussians around the centres, `[height, width, 1]`."""

    def along(axis: int) -> Any:
        distance = tf.cast(tf.range(size[axis]), tf.float32) - centers[:, axis, tf.newaxis]
        return tf.exp(-tf.square(distance) / (2 * sigma**2))

    heat = tf.reduce_max(along(0)[:, :, tf.newaxis] * along(1)[:, tf.newaxis], axis=0)
    is_far = heat < tf.exp(-0.5 * _REACH**2)
    return tf.where(is_far, tf.zeros_like(heat), heat)[..., tf.newaxis]
