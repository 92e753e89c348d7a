"""Targets of the network's outputs at each anchor, from a batch of labelled boxes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import upright
from tf_frame_detection.targets.matcher import IGNORED, UNMATCHED, ArgmaxMatcher


class Targets(NamedTuple):
    """Targets of a batch; no gradient passes through them.

    Attributes:
      class_targets: `[batch, anchors, num_classes]` float32, 1 for the class of the anchor's
        box, 0 for all classes where it has none.
      class_weights: `[batch, anchors]` float32, 0 for an ignored anchor, else 1.
      box_targets: `[batch, anchors, code]` float32, 0 where the anchor has no box.
      box_weights: `[batch, anchors]` float32, 1 for an anchor with a box, else 0.
      matches: `[batch, anchors]` int32: number of the box, `UNMATCHED` or `IGNORED`.
    """

    class_targets: Any
    class_weights: Any
    box_targets: Any
    box_weights: Any
    matches: Any


@dataclasses.dataclass(frozen=True)
class Assigner:
    """Assigns boxes to anchors by the IoU of upright boxes, and encodes them.

    Ignored boxes take no anchors from others. Anchors that would be background are ignored
    where they match an ignored box, or lie in it with at least `ignored_share` of their area.

    Attributes:
      coder: encodes boxes; see `boxes.coders`.
      matcher: matches anchors.
      num_classes: number of classes of objects.
      box_label: name of the label that the coder encodes, `boxes` or `rotated_boxes`.
      ignored_share: see above.
    """

    coder: Any
    matcher: ArgmaxMatcher
    num_classes: int
    box_label: str = "boxes"
    ignored_share: float = 0.5

    def assign_batch(self, anchors: Any, labels: Mapping[str, Any]) -> Targets:
        """Returns the targets of a batch.

        Args:
          anchors: `[anchors, 4]` float32, in pixels.
          labels: `boxes`, `classes`, `ignored` and `box_label` of an input, padded with class
            -1 to any count, also 0. A box that overlaps no anchor gets none.
        """
        # A last row of padding, so that there is one to gather where nothing matches.
        boxes, codable, ignored = (
            _one_more(labels[name], 0) for name in ("boxes", self.box_label, "ignored")
        )
        classes = _one_more(labels["classes"], -1)
        matches = self._matches(anchors, boxes, classes, ignored)
        positive = matches >= 0
        rows = tf.maximum(matches, 0)
        matched = tf.where_v2(positive, tf.gather(classes, rows, batch_dims=1), -1)
        codes = self.coder.encode(tf.gather(codable, rows, batch_dims=1), anchors)
        targets = Targets(
            class_targets=tf.one_hot(matched, self.num_classes),
            class_weights=tf.cast(tf.not_equal(matches, IGNORED), tf.float32),
            box_targets=tf.where_v2(positive[..., tf.newaxis], codes, 0.0),
            box_weights=tf.cast(positive, tf.float32),
            matches=matches,
        )
        return Targets(*map(tf.stop_gradient, targets))

    def _matches(self, anchors: Any, boxes: Any, classes: Any, ignored: Any) -> Any:
        similarity = upright.iou(boxes, anchors)
        real = tf.logical_and(classes >= 0, tf.reduce_max(similarity, axis=2) > 0)
        ignored = tf.logical_and(real, ignored)
        counted = tf.logical_and(real, tf.logical_not(ignored))
        matches = self.matcher(similarity, counted)
        share = upright.intersection_over_area(anchors, boxes)
        inside = tf.logical_and(share >= self.ignored_share, ignored[:, tf.newaxis])
        spared = tf.logical_or(
            tf.not_equal(self.matcher(similarity, ignored), UNMATCHED),
            tf.reduce_any(inside, axis=2),
        )
        spared = tf.logical_and(spared, tf.equal(matches, UNMATCHED))
        return tf.where_v2(spared, IGNORED, matches)


def with_background(class_targets: Any) -> Any:
    """Puts the background before the classes, as a softmax over all of them needs it.

    Args:
      class_targets: `[..., num_classes]`, all 0 for background.

    Returns:
      `[..., 1 + num_classes]`, in the order of the object detection API.
    """
    background = 1.0 - tf.reduce_sum(class_targets, axis=-1, keepdims=True)
    return tf.concat([background, class_targets], axis=-1)


def _one_more(label: Any, value: Any) -> Any:
    """Returns a label `[batch, count, ...]` with one more row."""
    padding = [[0, 0], [0, 1]] + [[0, 0]] * (label.shape.rank - 2)
    return tf.pad(label, padding, constant_values=tf.cast(value, label.dtype))
