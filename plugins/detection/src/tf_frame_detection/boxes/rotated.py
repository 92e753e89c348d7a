"""Rotated boxes `[..., 5]`: centre row, centre column, height, width, angle.

The width is the longer side, the angle its direction, in radians from -pi/2 to below pi/2: the
vector (down, across) is (sin, cos), so that a positive angle turns clockwise on the screen.
Functions with `ops` also compute with `numpy`; see `rotated_numpy`.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes.overlap import intersection_areas

# Divisor instead of 0; the numerator is 0 then.
_TINY = 1e-30


def corners(boxes: Any, *, ops: Any = tf) -> Any:
    """Returns the corners `[..., 4, 2]`, row and column, of boxes `[..., 5]`.

    They go around clockwise; without rotation they begin with the upper left one.
    """
    row, column, height, width, angle = (boxes[..., i] for i in range(5))
    sin, cos = ops.sin(angle), ops.cos(angle)
    along = ops.stack([sin, cos], axis=-1) * width[..., None] / 2
    aside = ops.stack([cos, -sin], axis=-1) * height[..., None] / 2
    center = ops.stack([row, column], axis=-1)
    return ops.stack(
        [
            center - along - aside,
            center + along - aside,
            center + along + aside,
            center - along + aside,
        ],
        axis=-2,
    )


def from_corners(points: Any) -> Any:
    """Returns boxes `[..., 5]` from their corners.

    Of another convex quadrilateral, as a rectangle becomes by scaling height and width
    differently, it is the rectangle of the same centre, longer middle line and area.

    Args:
      points: `[..., 4, 2]` float32, row and column, in order around, either way.
    """
    first, second, third, fourth = (points[..., i, :] for i in range(4))
    lines = ((second + third - first - fourth) / 2, (third + fourth - first - second) / 2)
    lengths = [tf.norm(line, axis=-1) for line in lines]
    across = tf.cast(lengths[0] >= lengths[1], points.dtype)[..., None]
    longer = across * lines[0] + (1 - across) * lines[1]
    width = tf.maximum(lengths[0], lengths[1])
    area = tf.abs(lines[0][..., 0] * lines[1][..., 1] - lines[0][..., 1] * lines[1][..., 0])
    height = tf.minimum(area / tf.maximum(width, _TINY), width)
    center = (first + second + third + fourth) / 4
    angle = _wrapped(tf.math.atan2(longer[..., 0], longer[..., 1]))
    return tf.stack([center[..., 0], center[..., 1], height, width, angle], axis=-1)


def canonical(boxes: Any) -> Any:
    """Exchanges height and width of boxes `[..., 5]` where needed, and wraps their angles."""
    row, column, height, width, angle = tf.unstack(boxes, 5, axis=-1)
    turn = tf.cast(height > width, boxes.dtype) * (math.pi / 2)
    longer, shorter = tf.maximum(height, width), tf.minimum(height, width)
    return tf.stack([row, column, shorter, longer, _wrapped(angle + turn)], axis=-1)


def enclosing(boxes: Any, *, ops: Any = tf) -> Any:
    """Returns the smallest upright boxes `[..., 4]` around boxes `[..., 5]`."""
    row, column, height, width, angle = (boxes[..., i] for i in range(5))
    sin, cos = ops.abs(ops.sin(angle)), ops.abs(ops.cos(angle))
    down, across = (width * sin + height * cos) / 2, (width * cos + height * sin) / 2
    return ops.stack([row - down, column - across, row + down, column + across], axis=-1)


def iou(a: Any, b: Any, *, ops: Any = tf) -> Any:
    """Returns the exact intersection over union of each box of one set with each of another.

    Args:
      a: `[..., n, 5]`.
      b: `[..., m, 5]`; leading dimensions broadcast.

    Returns:
      `[..., n, m]`; 0 for two boxes without area. See `overlap` for the precision.
    """
    return paired_iou(a[..., :, None, :], b[..., None, :, :], ops=ops)


def paired_iou(a: Any, b: Any, *, ops: Any = tf) -> Any:
    """Returns the exact intersection over union `[...]` of boxes `[..., 5]` that broadcast."""
    shared = intersection_areas(a, b, ops)
    union = a[..., 2] * a[..., 3] + b[..., 2] * b[..., 3] - shared
    return shared / ops.maximum(union, _TINY)


def _wrapped(angles: Any) -> Any:
    """Angles of directions as those from -pi/2 to below pi/2; exact for those already there."""
    angles -= math.pi * tf.floor(angles / math.pi + 0.5)
    # What rounding has left outside.
    angles += math.pi * tf.cast(angles < -math.pi / 2, angles.dtype)
    return angles - math.pi * tf.cast(angles >= math.pi / 2, angles.dtype)
