"""Overlap of detections with boxes: intersection over union (IoU), in NumPy.

With a crowd, a box of any number of objects, it is the share of the detection that lies inside.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_frame_detection.evaluation.images import Array

# From detections [n, 4 or 5], boxes [m, 4 or 5] and crowd [m] to overlaps [n, m].
Overlaps = Callable[[Array, Array, Array], Array]


def upright_overlaps(found: Array, boxes: Array, crowd: Array) -> Array:
    """Returns the overlaps of upright boxes.

    Args:
      found: `[n, 4]`.
      boxes: `[m, 4]`.
      crowd: `[m]` bool.

    Returns:
      `[n, m]`; 0 where both areas are 0.
    """
    first, second = found[:, np.newaxis], boxes[np.newaxis]
    upper_left = np.maximum(first[..., :2], second[..., :2])
    sides = np.minimum(first[..., 2:], second[..., 2:]) - upper_left
    intersection = np.prod(np.maximum(sides, 0), axis=2)
    area = _areas(found)[:, np.newaxis]
    return _ratio(intersection, np.where(crowd, area, area + _areas(boxes) - intersection))


def rotated_overlaps(iou: Callable[[Array, Array], Array]) -> Overlaps:
    """Returns the function of the overlaps of rotated boxes.

    Args:
      iou: from `[n, 5]` and `[m, 5]` to the IoU of their polygons, `[n, m]`.
    """

    def overlaps(found: Array, boxes: Array, crowd: Array) -> Array:
        if not len(found) or not len(boxes):
            return np.zeros([len(found), len(boxes)])
        ious = np.asarray(iou(found, boxes), np.float64)
        area, others = (np.prod(each[:, 2:4], axis=1) for each in (found, boxes))
        # Of the IoU i = x / (a + b - x) the intersection is x = i (a + b) / (1 + i).
        intersection = ious * (area[:, np.newaxis] + others) / (1 + ious)
        return np.where(crowd, _ratio(intersection, area[:, np.newaxis]), ious)

    return overlaps


def _areas(boxes: Array) -> Array:
    areas: Array = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return areas


def _ratio(numerator: Array, denominator: Array) -> Array:
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > 0)
