"""Overlaps of detections with boxes, in NumPy: intersection over union (IoU).

With a crowd, a box of any number of objects, it is the share of the detection that lies inside.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_frame_detection.boxes import rotated_numpy, upright
from tf_frame_detection.evaluation.images import Array

# Divisor instead of an area of 0; the numerator is 0 then.
_TINY = 1e-30

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
    shares = upright.intersection_over_area(found, boxes, ops=np)
    overlaps: Array = np.where(crowd, shares, upright.iou(found, boxes, ops=np))
    return overlaps


def rotated_overlaps(found: Array, boxes: Array, crowd: Array) -> Array:
    """Returns the overlaps of rotated boxes, `[n, 5]` and `[m, 5]`; otherwise as above."""
    iou = rotated_numpy.iou(found, boxes)
    area, others = (np.prod(each[:, 2:4], axis=1) for each in (found, boxes))
    # Of the IoU i = x / (a + b - x) the intersection is x = i (a + b) / (1 + i).
    shared = iou * (area[:, np.newaxis] + others) / (1 + iou)
    shares = shared / np.maximum(area, _TINY)[:, np.newaxis]
    overlaps: Array = np.where(crowd, shares, iou)
    return overlaps
