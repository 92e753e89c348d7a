"""Corners and exact overlaps of rotated boxes in NumPy, in float64; see `rotated`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tf_frame_detection.boxes import rotated


def corners(boxes: Any) -> Any:
    """Returns the corners `[..., 4, 2]`, row and column, of boxes `[..., 5]`."""
    return rotated.corners(np.asarray(boxes, np.float64), ops=np)


def iou(a: Any, b: Any) -> Any:
    """Returns the intersection over union `[n, m]` of boxes `[n, 5]` and `[m, 5]`."""
    return rotated.iou(np.asarray(a, np.float64), np.asarray(b, np.float64), ops=np)


def paired_iou(a: Any, b: Any) -> Any:
    """Returns the intersection over union `[...]` of boxes `[..., 5]` that broadcast."""
    return rotated.paired_iou(np.asarray(a, np.float64), np.asarray(b, np.float64), ops=np)
