"""Detections of a batch: greedy suppression within each class, upright or rotated.

All images and classes go through one loop, of at most `max_per_class` steps, which ends early once
no box is left anywhere. It has only operations of TensorFlow Lite, so exports contain it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated, upright

# In place of the score of a box that is no candidate, or no longer.
_NONE = -1.0


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
    max_per_class: int = 100,
    max_total: int = 100,
    candidates: int = 1000,
) -> Detections:
    """Suppresses boxes that overlap a better one of their class.

    As the object detection API does (tensorflow/models, research/object_detection,
    core/post_processing.py; defaults of protos/post_processing.proto), except for `candidates`.

    Args:
      boxes: `[batch, n, 4]` or rotated `[batch, n, 5]` float32, shared by all classes.
      scores: `[batch, n, num_classes]` float32, 0 or more, without background.
      score_threshold: boxes of which the score does not exceed it are left out.
      iou_threshold: IoU with a better box above which a box is left out; of rotated boxes the
        exact one.
      max_per_class: greatest number of detections of a class.
      max_total: greatest number of an image, of all classes.
      candidates: only so many best boxes of each class are looked at, as in RetinaNet
        (https://arxiv.org/abs/1708.02002, section 4.1: 1000 on each level).
    """
    batch, num_classes = tf.shape(scores)[0], scores.shape.as_list()[2]
    scores = tf.transpose(scores, [0, 2, 1])
    scores = tf.where_v2(scores > score_threshold, scores, _NONE)
    best = tf.math.top_k(scores, _smaller(candidates, scores))
    size = boxes.shape.as_list()[2]
    of_classes = tf.reshape(
        tf.gather(boxes, tf.reshape(best.indices, [batch, -1]), batch_dims=1),
        [batch * num_classes, -1, size],
    )
    iou = rotated.paired_iou if size == 5 else upright.paired_iou
    kept = _greedy(
        of_classes,
        tf.reshape(best.values, [batch * num_classes, -1]),
        lambda a, b: iou(a, b) > iou_threshold,
        max_per_class,
    )
    kept = tf.reshape(kept, [batch, -1])
    final = tf.math.top_k(kept, _smaller(max_total, kept))
    detected = tf.gather(tf.reshape(of_classes, [batch, -1, size]), final.indices, batch_dims=1)
    per_class = tf.maximum(tf.shape(best.values)[2], 1)
    return _padded(detected, final.values, final.indices // per_class, max_total)


def _greedy(boxes: Any, scores: Any, overlaps: Callable[..., Any], limit: int) -> Any:
    """Scores of the boxes that are kept, `_NONE` for all others.

    Args:
      boxes: `[groups, n, 4 or 5]`.
      scores: `[groups, n]`, `_NONE` for boxes that are none.
      overlaps: whether one box leaves another no place, of pairs of boxes.
      limit: greatest number of boxes kept in a group.
    """

    def goes_on(step: Any, left: Any, _: Any) -> Any:
        return tf.logical_and(step < limit, tf.reduce_any(left > _NONE))

    def choose(step: Any, left: Any, kept: Any) -> tuple[Any, ...]:
        greatest = tf.argmax(left, axis=1, output_type=tf.int32)
        chosen = tf.one_hot(greatest, tf.shape(left)[1], on_value=True, off_value=False)
        chosen = tf.logical_and(chosen, left > _NONE)
        box = tf.gather(boxes, greatest[:, tf.newaxis], batch_dims=1)
        gone = tf.logical_or(chosen, overlaps(box, boxes))
        return (
            step + 1,
            tf.where_v2(gone, _NONE, left),
            tf.where_v2(chosen, left, kept),
        )

    state = (tf.constant(0), scores, tf.fill(tf.shape(scores), _NONE))
    return tf.while_loop(goes_on, choose, state, back_prop=False)[2]


def _padded(boxes: Any, scores: Any, classes: Any, length: int) -> Detections:
    """Detections of exactly this length, with 0 for those that are none."""
    missing = [[0, 0], [0, length - tf.shape(scores)[1]]]
    real = tf.pad(scores > _NONE, missing)

    def fit(values: Any) -> Any:
        inner = values.shape.as_list()[2:]
        values = tf.pad(values, missing + [[0, 0]] * len(inner))
        mask = tf.reshape(real, [-1, length, *[1] * len(inner)])
        values = tf.where_v2(mask, values, tf.zeros([], values.dtype))
        return tf.reshape(values, [-1, length, *inner])

    is_rotated = boxes.shape.as_list()[2] == 5
    return Detections(
        boxes=fit(rotated.enclosing(boxes) if is_rotated else boxes),
        scores=fit(scores),
        classes=fit(classes),
        count=tf.reduce_sum(tf.cast(real, tf.int32), axis=1),
        corners=fit(rotated.corners(boxes)) if is_rotated else None,
    )


def _smaller(limit: int, values: Any) -> Any:
    """Size of the last dimension, or the limit; a number where the size is known."""
    size = values.shape.as_list()[-1]
    return tf.minimum(limit, tf.shape(values)[-1]) if size is None else min(limit, size)
