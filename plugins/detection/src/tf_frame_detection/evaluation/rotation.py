"""Rotated boxes in pixels of an image file, and the error of their angles, in NumPy.

An image may be resized by different factors down and across, which makes parallelograms of rotated
boxes. Each becomes the rectangle of the same centre, longer side and area.
"""

from __future__ import annotations

import numpy as np

from tf_frame_detection.evaluation.images import Array

# Boxes at least so many times as long as wide have an angle that counts.
_LONG = 1.5


def scaled(boxes: Array, scale: Array) -> Array:
    """Resizes rotated boxes.

    Args:
      boxes: `[n, 5]`: row and column of the centre, height, width, angle in radians.
      scale: `[2]`: factors down and across.

    Returns:
      `[n, 5]`.
    """
    height, width, angle = np.moveaxis(boxes[:, 2:], 1, 0)
    along = np.stack([np.sin(angle), np.cos(angle)], axis=1) * width[:, np.newaxis]
    down = np.stack([np.cos(angle), -np.sin(angle)], axis=1) * height[:, np.newaxis]
    return _of_sides(boxes[:, :2] * scale, along * scale, down * scale)


def from_corners(corners: Array) -> Array:
    """Returns the rotated boxes of corners.

    Args:
      corners: `[n, 4, 2]`: row and column, in order around.

    Returns:
      `[n, 5]`.
    """
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1]
    return _of_sides(corners.mean(axis=1), first, second)


def _of_sides(centres: Array, first: Array, second: Array) -> Array:
    lengths = [np.linalg.norm(side, axis=1) for side in (first, second)]
    longer = np.where((lengths[0] >= lengths[1])[:, np.newaxis], first, second)
    width = np.maximum(*lengths)
    area = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    height = np.divide(area, width, out=np.zeros_like(area), where=width > 0)
    angle = np.arctan2(longer[:, 0], longer[:, 1])
    angle = (angle + np.pi / 2) % np.pi - np.pi / 2
    return np.concatenate([centres, np.stack([height, width, angle], axis=1)], axis=1)


def angle_errors(found: Array, boxes: Array) -> Array:
    """Returns the errors of the angles of detections, in degrees, 0 to 90.

    Args:
      found: `[n, 5]`.
      boxes: `[n, 5]`: the box of each; those less than 1.5 times as long as wide are left out.
    """
    is_long = boxes[:, 3] >= _LONG * boxes[:, 2]
    turned = np.degrees(found[is_long, 4] - boxes[is_long, 4]) % 180
    errors: Array = np.minimum(turned, 180 - turned)
    return errors
