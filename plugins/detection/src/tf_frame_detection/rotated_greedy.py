"""Greedy suppression of rotated boxes, a block of candidates at a time.

A block is compared with the boxes that earlier blocks have kept, and with itself. Most pairs are
told apart by circles around the boxes, by one product of matrices, and most of the others by
their areas and upright envelopes; the exact IoU is for the rest.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated, upright

# Smaller blocks are more rounds, larger ones more pairs.
_BLOCK = 200
# Pairs whose exact IoU is computed at a time: some 30 MB.
_AT_A_TIME = 2**16
# What rounding may take from a bound, as a share: such pairs are compared exactly.
_ROUNDING = 1e-4
# Divisor instead of 0.
_TINY = 1e-30


def keep_blocks(boxes: Any, ranks: Any, classes: Any, *, threshold: float, enough: Any) -> Any:
    """Returns whether each box is kept, `[batch, n]`; see `greedy`.

    Args:
      boxes: `[batch, n, 5]`, by falling rank.
      ranks: `[batch, n]` float32, 0 for boxes that are none.
      classes: `[batch, n]`.
      threshold: IoU with a better box of its class above which a box is left out.
      enough: number of boxes after which no more are needed in an image.
    """
    count = tf.shape(ranks)[1]

    def goes_on(start: Any, kept: Any) -> Any:
        needed = tf.reduce_sum(tf.cast(kept, tf.int32), axis=1) < enough
        # Ranks fall, so that the next one tells whether there are more.
        following = ranks[:, start : start + 1] > 0
        return tf.reduce_any(needed[:, tf.newaxis] & following)

    def keep_block(start: Any, kept: Any) -> tuple[Any, Any]:
        end = tf.minimum(start + _BLOCK, count)
        best = tf.math.top_k(
            tf.where_v2(kept, ranks[:, :start], 0.0), tf.minimum(start, enough), sorted=False
        )
        earlier = tf.shape(best.values)[1]
        numbers = tf.tile(tf.range(start, end)[tf.newaxis], [tf.shape(ranks)[0], 1])
        numbers = tf.concat([best.indices, numbers], axis=1)
        better, of_class = (tf.gather(part, numbers, batch_dims=1) for part in (boxes, classes))
        counts = tf.concat([best.values, ranks[:, start:end]], axis=1) > 0
        overlaps = _overlaps(better, of_class, counts, earlier, threshold)
        free = counts[:, earlier:] & ~tf.reduce_any(overlaps[:, :earlier], axis=1)
        return end, tf.concat([kept, _keep_free(free, overlaps[:, earlier:])], axis=1)

    state = (tf.constant(0), tf.zeros([tf.shape(ranks)[0], 0], tf.bool))
    shapes = (tf.TensorShape([]), tf.TensorShape([None, None]))
    _, kept = tf.while_loop(goes_on, keep_block, state, shapes, back_prop=False)
    return tf.pad(kept, [[0, 0], [0, count - tf.shape(kept)[1]]])


def _keep_free(free: Any, overlaps: Any) -> Any:
    """Returns which boxes of a block are kept, `[batch, n]`.

    A box is kept if it is free and no better one that is kept overlaps it. The first box is right
    from the beginning, and each repetition makes at least one more box right.

    Args:
      free: `[batch, n]`, whether no box of an earlier block overlaps it.
      overlaps: `[batch, n, n]`, whether the first box is better and overlaps the second.
    """
    by_better = tf.cast(overlaps, tf.float32)

    def again(kept: Any, _: Any) -> tuple[Any, Any]:
        hits = tf.matmul(tf.cast(kept, tf.float32)[:, tf.newaxis], by_better)[:, 0]
        following = free & tf.equal(hits, 0)
        return following, tf.reduce_any(tf.not_equal(following, kept))

    state = (free, tf.constant(True))
    return tf.while_loop(lambda _, changes: changes, again, state, back_prop=False)[0]


def _overlaps(boxes: Any, classes: Any, counts: Any, earlier: Any, threshold: float) -> Any:
    """Returns whether better boxes overlap those of a block too much, `[batch, m, n]`.

    Args:
      boxes, classes, counts: `[batch, m, ...]`, whether a box counts; the last n are the block.
      earlier: m - n.
      threshold: an IoU.
    """
    near = _circles_meet(boxes, earlier)
    near &= tf.equal(classes[..., tf.newaxis], classes[:, tf.newaxis, earlier:])
    near &= counts[..., tf.newaxis] & counts[:, tf.newaxis, earlier:]
    # Within the block, of two boxes the first is the better one.
    size = tf.shape(boxes)[1]
    near &= tf.range(size)[:, tf.newaxis] < tf.range(earlier, size)
    pairs = tf.where_v2(near)
    image, first, second = pairs[:, 0], pairs[:, 1], pairs[:, 2] + tf.cast(earlier, tf.int64)
    first, second = tf.stack([image, first], axis=1), tf.stack([image, second], axis=1)
    bound = _iou_bound(tf.gather_nd(boxes, first), tf.gather_nd(boxes, second))
    unclear = tf.where_v2(bound * (1 + _ROUNDING) > threshold)[:, 0]
    first, second = tf.gather(first, unclear), tf.gather(second, unclear)
    iou = _exact_iou(boxes, first, second)
    found = tf.gather(pairs, tf.gather(unclear, tf.where_v2(iou > threshold)[:, 0]))
    return tf.scatter_nd(
        found, tf.ones_like(found[:, 0], tf.bool), tf.shape(near, out_type=tf.int64)
    )


def _exact_iou(boxes: Any, first: Any, second: Any) -> Any:
    """Returns the IoU `[pairs]` of pairs of boxes, each given by its image and its number."""

    def more(start: Any, found: Any) -> tuple[Any, Any]:
        parts = (part[start : start + _AT_A_TIME] for part in (first, second))
        iou = rotated.paired_iou(*(tf.gather_nd(boxes, part) for part in parts))
        return start + _AT_A_TIME, tf.concat([found, iou], axis=0)

    return tf.while_loop(
        lambda start, _: start < tf.shape(first)[0],
        more,
        (tf.constant(0), tf.zeros([0])),
        (tf.TensorShape([]), tf.TensorShape([None])),
        back_prop=False,
    )[1]


def _circles_meet(boxes: Any, earlier: Any) -> Any:
    """Returns whether the circles around boxes meet, `[batch, m, n]`; if in doubt, true.

    With centres c and radii r, |c1 - c2|^2 - (r1 + r2)^2 = u1 + u2 - 2 (c1 c2 + r1 r2), where
    u = c^2 - r^2: a single product of matrices.

    Args:
      boxes: `[batch, m, 5]`; the last n are compared with all.
      earlier: m - n.
    """
    centers = boxes[..., :2] - tf.reduce_mean(boxes[..., :2], axis=1, keepdims=True)
    radii = tf.norm(boxes[..., 2:4], axis=2, keepdims=True) / 2
    terms = tf.concat([centers, radii], axis=2)
    squares = tf.reduce_sum(tf.square(centers), 2, keepdims=True) - tf.square(radii)
    ones = tf.ones_like(squares)
    gaps = tf.matmul(
        tf.concat([-2 * terms, squares, ones], axis=2),
        tf.concat([terms, ones, squares], axis=2)[:, earlier:],
        transpose_b=True,
    )
    return gaps <= _ROUNDING * tf.reduce_max(tf.reduce_sum(tf.square(terms), 2))


def _iou_bound(a: Any, b: Any) -> Any:
    """Returns the greatest IoU `[pairs]` that boxes of these areas and envelopes can have."""
    areas = [boxes[:, 2] * boxes[:, 3] for boxes in (a, b)]
    envelopes = [rotated.enclosing(boxes) for boxes in (a, b)]
    shared = tf.minimum(tf.minimum(*areas), upright.intersections(*envelopes))
    return shared / tf.maximum(areas[0] + areas[1] - shared, _TINY)
