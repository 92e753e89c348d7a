"""Greedy suppression of boxes that are sorted by score: by kernels of TensorFlow, or by a loop.

All three ways keep the same boxes: the best one of its class, then the best one that does not
overlap it too much, and so on; of boxes with one score that which comes first. The kernels are
given ranks instead of scores, which leave them no choice. The loop has only operations of
TensorFlow Lite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated, upright
from tf_frame_detection.rotated_greedy import keep_blocks

# Score of a box that is no candidate, or no longer.
NONE = -1.0


class Candidates(NamedTuple):
    """Candidates of a batch, by falling score.

    Attributes:
      boxes: `[batch, n, 4]`, or rotated `[batch, n, 5]`.
      scores: `[batch, n]`, `NONE` for boxes that are no candidates.
      classes: `[batch, n]` int32.
    """

    boxes: Any
    scores: Any
    classes: Any

    @property
    def are_rotated(self) -> bool:
        """True if the boxes have an angle."""
        return bool(self.boxes.shape.as_list()[2] == 5)

    @property
    def count(self) -> Any:
        """Number of candidates of an image: a number if the shape has it."""
        return self.scores.shape.as_list()[1] or tf.shape(self.scores)[1]

    def ranks(self) -> Any:
        """Returns the ranks, n for the first box and 1 for the last; 0 for those that are none."""
        ranks = tf.cast(self.count - tf.range(self.count), tf.float32)
        return tf.where_v2(self.scores > NONE, ranks, 0.0)


class Limits(NamedTuple):
    """The limits of a suppression.

    Attributes:
      num_classes: number of classes.
      iou_threshold: IoU with a better box of its class above which a box is left out.
      max_per_class, max_total: greatest numbers of boxes kept in an image.
    """

    num_classes: int
    iou_threshold: float
    max_per_class: int
    max_total: int


def keep_by_kernel(candidates: Candidates, limits: Limits) -> tuple[Any, Any]:
    """Returns numbers of candidates `[batch, max_total]` by falling score, and which are real."""
    keep = _keep_rotated if candidates.are_rotated else _keep_upright
    ranks = tf.cast(keep(candidates, limits), tf.int32)
    real = ranks > 0
    return tf.where_v2(real, candidates.count - ranks, 0), real


def _keep_upright(candidates: Candidates, limits: Limits) -> Any:
    """Returns the ranks of the boxes that are kept, `[batch, max_total]`, padded with 0."""
    ranks = candidates.ranks()[..., tf.newaxis]
    if limits.num_classes > 1:
        classes = tf.range(limits.num_classes)
        is_of_class = tf.equal(candidates.classes[..., tf.newaxis], classes)
        ranks = tf.where_v2(is_of_class, ranks, 0.0)
    return tf.raw_ops.CombinedNonMaxSuppression(
        boxes=candidates.boxes[:, :, tf.newaxis],
        scores=ranks,
        max_output_size_per_class=limits.max_per_class,
        max_total_size=limits.max_total,
        iou_threshold=limits.iou_threshold,
        score_threshold=0.0,
        pad_per_class=False,
        clip_boxes=False,
    ).nmsed_scores


def _keep_rotated(candidates: Candidates, limits: Limits) -> Any:
    """Returns the ranks of the boxes that are kept, `[batch, max_total]`, padded with 0."""
    ranks, classes = candidates.ranks(), candidates.classes
    most = min(limits.max_per_class, limits.max_total)
    is_limited = limits.num_classes > 1 and limits.max_per_class < limits.max_total
    kept = keep_blocks(
        candidates.boxes,
        ranks,
        classes,
        threshold=limits.iou_threshold,
        # Of which class they are is not known before.
        enough=candidates.count if is_limited else most,
    )
    if is_limited:
        of_class = tf.one_hot(classes, limits.num_classes, on_value=True, off_value=False)
        of_class = tf.cast(of_class & kept[..., tf.newaxis], tf.int32)
        places = tf.reduce_sum(tf.cumsum(of_class, axis=1) * of_class, axis=2)
        kept &= places <= limits.max_per_class
        most = limits.max_total
    found = tf.math.top_k(tf.where_v2(kept, ranks, 0.0), smaller(most, candidates.count)).values
    return tf.pad(found, [[0, 0], [0, limits.max_total - tf.shape(found)[1]]])


def keep_by_loop(candidates: Candidates, limits: Limits) -> tuple[Any, Any]:
    """Returns numbers of candidates `[batch, k]` by falling score, and which are real.

    A step keeps the best box of each image that is left, whatever its class, and leaves out those
    of its class that overlap it. After `max_total` steps, or fewer, the boxes are those of
    suppressing each class by itself.
    """
    boxes, scores, classes = candidates
    iou = rotated.paired_iou if candidates.are_rotated else upright.paired_iou

    def goes_on(step: Any, left: Any, _: Any) -> Any:
        return tf.logical_and(step < limits.max_total, tf.reduce_any(left > NONE))

    def keep_one(step: Any, left: Any, kept: Any) -> tuple[Any, ...]:
        number = tf.argmax(left, axis=1, output_type=tf.int32)[:, tf.newaxis]
        chosen = tf.equal(tf.range(tf.shape(left)[1]), number)
        kept = tf.where_v2(chosen, tf.maximum(left, kept), kept)
        same = tf.equal(classes, tf.gather(classes, number, batch_dims=1))
        of_class = tf.logical_and(same, kept > NONE)
        full = tf.reduce_sum(tf.cast(of_class, tf.int32), axis=1, keepdims=True)
        near = iou(tf.gather(boxes, number, batch_dims=1), boxes) > limits.iou_threshold
        gone = tf.logical_and(same, tf.logical_or(near, full >= limits.max_per_class))
        left = tf.where_v2(tf.logical_or(chosen, gone), NONE, left)
        return step + 1, left, kept

    state = (tf.constant(0), scores, tf.fill(tf.shape(scores), NONE))
    kept = tf.while_loop(goes_on, keep_one, state, back_prop=False)[2]
    kept = tf.ensure_shape(kept, scores.shape)
    best = tf.math.top_k(kept, smaller(limits.max_total, candidates.count))
    return best.indices, best.values > NONE


def smaller(limit: int, size: Any) -> Any:
    """Returns the lesser of both, a number if the size is a number."""
    return min(limit, size) if isinstance(size, int) else tf.minimum(limit, size)
