"""Detections of a batch: greedy suppression within each class, upright or rotated."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated, upright
from tf_frame_detection.greedy import (
    NONE,
    Candidates,
    Limits,
    keep_by_kernel,
    keep_by_loop,
    smaller,
)

# Divisor instead of 0.
_TINY = 1e-30


class Detections(NamedTuple):
    """Detections of a batch, by falling score, padded with 0.

    Attributes:
      boxes: `[batch, max_total, 4]`; of rotated boxes those that enclose them.
      scores: `[batch, max_total]` float32.
      classes: `[batch, max_total]` int32.
      count: `[batch]` int32, number of detections before the padding.
      corners: `[batch, max_total, 4, 2]` of rotated boxes, else None.
    """

    boxes: Any
    scores: Any
    classes: Any
    count: Any
    corners: Any


def detections(
    boxes: Any,
    scores: Any,
    *,
    score_threshold: float = 0.0,
    iou_threshold: float = 0.6,
    box_voting_iou: float | None = None,
    max_per_class: int = 100,
    max_total: int = 100,
    candidates: int = 1000,
    by_loop: bool = False,
) -> Detections:
    """Suppresses boxes that overlap a better one of their class.

    As the object detection API does (tensorflow/models, research/object_detection,
    core/post_processing.py; defaults of protos/post_processing.proto), except for `candidates`.

    Args:
      boxes: `[batch, n, 4]` or rotated `[batch, n, 5]` float32, shared by all classes.
      scores: `[batch, n, num_classes]` float32, 0 or more, without background.
      score_threshold: boxes with this score or less are left out.
      iou_threshold: IoU with a better box above which a box is left out; of rotated boxes the
        exact one.
      box_voting_iou: upright boxes that stay become the mean, weighted by scores, of the
        candidates of their class with this IoU or more ("bounding box
        voting" of https://arxiv.org/abs/1505.01749); None: they stay as they are.
      max_per_class: greatest number of detections of a class.
      max_total: greatest number of an image, of all classes.
      candidates: only so many pairs of a box and a class, the best of each image, are looked
        at, as in RetinaNet (https://arxiv.org/abs/1708.02002, section 4.1: 1000 on each level).
      by_loop: use operations of TensorFlow Lite alone, many times slower.
    """
    shape = scores.shape.as_list()
    scores = tf.where_v2(scores > score_threshold, scores, NONE)
    size = shape[1] * shape[2] if shape[1] is not None else tf.shape(scores)[1] * shape[2]
    scores = tf.reshape(scores, [tf.shape(scores)[0], size])
    best = tf.math.top_k(scores, smaller(candidates, size))
    pool = Candidates(
        boxes=tf.gather(boxes, best.indices // shape[2], batch_dims=1),
        scores=best.values,
        classes=best.indices % shape[2],
    )
    limits = Limits(shape[2], iou_threshold, max_per_class, max_total)
    chosen, real = (keep_by_loop if by_loop else keep_by_kernel)(pool, limits)
    if not by_loop:
        # The padding needs no votes and no corners.
        most = tf.reduce_max(tf.reduce_sum(tf.cast(real, tf.int32), axis=1))
        chosen, real = chosen[:, :most], real[:, :most]
    boxes, values, classes = (tf.gather(tensor, chosen, batch_dims=1) for tensor in pool)
    is_rotated = pool.are_rotated
    if box_voting_iou is not None and not is_rotated:
        boxes = _voted(boxes, classes if shape[2] > 1 else None, pool, box_voting_iou)
    return Detections(
        boxes=_fit(rotated.enclosing(boxes) if is_rotated else boxes, real, max_total),
        scores=_fit(values, real, max_total),
        classes=_fit(classes, real, max_total),
        count=tf.reduce_sum(tf.cast(real, tf.int32), axis=1),
        corners=_fit(rotated.corners(boxes), real, max_total) if is_rotated else None,
    )


def _voted(boxes: Any, classes: Any, pool: Candidates, threshold: float) -> Any:
    """Means `[batch, k, 4]` of those boxes of a pool that overlap each of k boxes of their class.

    Operations on all pairs, `[batch, k, n]`, take nearly all of the time, so there are few.

    Args:
      boxes, classes: `[batch, k, 4]` and `[batch, k]`; classes are None if there is only one.
      pool: n candidates.
      threshold: least IoU.
    """
    votes = upright.iou(boxes, pool.boxes) >= threshold
    if classes is not None:
        same = tf.equal(classes[:, :, tf.newaxis], pool.classes[:, tf.newaxis])
        votes = tf.logical_and(same, votes)
    weights = tf.maximum(pool.scores, 0.0)[..., tf.newaxis]
    weighted = tf.concat([pool.boxes * weights, weights], axis=2)
    sums, total = tf.split(tf.matmul(tf.cast(votes, tf.float32), weighted), [4, 1], axis=2)
    means = sums / tf.maximum(total, _TINY)
    # Rounding must not move an edge out of the image.
    means = tf.minimum(means, tf.reduce_max(pool.boxes, axis=1, keepdims=True))
    means = tf.maximum(means, tf.reduce_min(pool.boxes, axis=1, keepdims=True))
    # A box without area overlaps nothing, not even itself.
    return tf.where_v2(total > 0, means, boxes)


def _fit(values: Any, real: Any, length: int) -> Any:
    """Values `[batch, n, ...]` padded to a length, and 0 where they are not real."""
    batch, _, *inner = values.shape.as_list()
    mask = tf.reshape(real, [*tf.unstack(tf.shape(real)), *[1] * len(inner)])
    values = tf.where_v2(mask, values, tf.zeros([], values.dtype))
    missing = length - tf.shape(values)[1]
    values = tf.pad(values, [[0, 0], [0, missing], *[[0, 0]] * len(inner)])
    values.set_shape([batch, length, *inner])
    return values
