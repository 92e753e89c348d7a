"""Areas and overlaps of upright boxes `[..., 4]`: upper, left, lower and right edge.

All functions take `ops`, the module that computes: TensorFlow, or `numpy` for arrays outside of a
graph. A box without height or width, such as padding, has area 0 and overlaps nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

# Divisor instead of 0; the numerator is 0 then.
_TINY = 1e-30


def areas(boxes: Any, *, ops: Any = tf) -> Any:
    """Returns the areas `[...]` of boxes `[..., 4]`."""
    upper, left, lower, right = _edges(boxes, ops)
    return ops.maximum(lower - upper, 0.0) * ops.maximum(right - left, 0.0)


def iou(a: Any, b: Any, *, ops: Any = tf) -> Any:
    """Returns the intersection over union of each box of one set with each of another.

    Args:
      a: `[..., n, 4]`.
      b: `[..., m, 4]`; leading dimensions broadcast.

    Returns:
      `[..., n, m]`; 0 for two boxes without area.
    """
    return paired_iou(a[..., :, None, :], b[..., None, :, :], ops=ops)


def paired_iou(a: Any, b: Any, *, ops: Any = tf) -> Any:
    """Returns the intersection over union `[...]` of boxes `[..., 4]` that broadcast."""
    shared = intersections(a, b, ops)
    union = areas(a, ops=ops) + areas(b, ops=ops) - shared
    return shared / ops.maximum(union, _TINY)


def intersection_over_area(a: Any, b: Any, *, ops: Any = tf) -> Any:
    """Returns the share of each box of `a` that lies in each of `b`.

    Args:
      a: `[..., n, 4]`.
      b: `[..., m, 4]`; leading dimensions broadcast.

    Returns:
      `[..., n, m]`; 0 for a box without area.
    """
    a = a[..., :, None, :]
    shared = intersections(a, b[..., None, :, :], ops)
    return shared / ops.maximum(areas(a, ops=ops), _TINY)


def intersections(a: Any, b: Any, ops: Any = tf) -> Any:
    """Returns the areas `[...]` that boxes `[..., 4]`, which broadcast, share."""
    edges_a, edges_b = _edges(a, ops), _edges(b, ops)
    sides = [
        ops.maximum(
            ops.minimum(edges_a[i + 2], edges_b[i + 2]) - ops.maximum(edges_a[i], edges_b[i]), 0.0
        )
        for i in (0, 1)
    ]
    return sides[0] * sides[1]


def _edges(boxes: Any, ops: Any) -> Any:
    """Returns the four edges; TensorFlow takes one operation for all."""
    return tf.unstack(boxes, num=4, axis=-1) if ops is tf else np.moveaxis(boxes, -1, 0)
