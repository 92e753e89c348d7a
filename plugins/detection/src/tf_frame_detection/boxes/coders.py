"""Codes of boxes relative to anchors, which a network predicts.

    coder = FasterRcnnCoder()
    codes = coder.encode(boxes, anchors)
    boxes = coder.decode(codes, anchors)

Anchors are upright boxes `[..., 4]`; boxes and codes have the same leading dimensions, or ones that
broadcast. The equations of the centre and the size are those of Faster R-CNN
(https://arxiv.org/abs/1506.01497, section 3.1.2), with factors as in the object detection API
(tensorflow/models, research/object_detection/box_coders and protos/faster_rcnn_box_coder.proto,
protos/keypoint_box_coder.proto).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated

# Least height and width, as in the API, so that the logarithm of padding is finite.
_LEAST = 1e-8
# A network at its beginning may predict any size. The limit is that of detectron2
# (modeling/box_regression.py): a box of 1000 pixels at an anchor of 16.
_GREATEST_LOG = math.log(1000 / 16)


@dataclasses.dataclass(frozen=True)
class FasterRcnnCoder:
    """Encodes boxes `[..., 4]` as the distance of centres and the logarithm of the size.

    Attributes:
      scale_factors: of the row and column of the centre, of height and width.
    """

    scale_factors: tuple[float, ...] = (10.0, 10.0, 5.0, 5.0)
    code_size: int = dataclasses.field(default=4, init=False)

    def encode(self, boxes: Any, anchors: Any) -> Any:
        """Returns the codes `[..., 4]`: down, across, log of height, log of width."""
        center, size = _center_and_size(boxes)
        anchor_center, anchor_size = _center_and_size(anchors)
        codes = [(center - anchor_center) / anchor_size, tf.log(size / anchor_size)]
        return tf.concat(codes, axis=-1) * tf.constant(self.scale_factors, tf.float32)

    def decode(self, codes: Any, anchors: Any) -> Any:
        """Returns the boxes `[..., 4]` of codes `[..., 4]`."""
        codes /= tf.constant(self.scale_factors, tf.float32)
        anchor_center, anchor_size = _center_and_size(anchors)
        center = codes[..., :2] * anchor_size + anchor_center
        half = _exp(codes[..., 2:]) * anchor_size / 2
        return tf.concat([center - half, center + half], axis=-1)


@dataclasses.dataclass(frozen=True)
class KeypointCoder:
    """Encodes a box with key points, `[..., 4 + 2 * num_keypoints]`: edges, row, column, row, ...

    Attributes:
      num_keypoints: number of key points.
      scale_factors: see `FasterRcnnCoder`; the first two are also those of key points.
    """

    num_keypoints: int
    scale_factors: tuple[float, ...] = (10.0, 10.0, 5.0, 5.0)

    @property
    def code_size(self) -> int:
        """Length of a code."""
        return 4 + 2 * self.num_keypoints

    def encode(self, boxes: Any, anchors: Any) -> Any:
        """Returns the codes: those of the box, then each point's distance down and across."""
        center, size = self._points_frame(anchors)
        points = (boxes[..., 4:] - center) / size
        return tf.concat([self._box_coder.encode(boxes[..., :4], anchors), points], axis=-1)

    def decode(self, codes: Any, anchors: Any) -> Any:
        """Returns the boxes with their key points."""
        center, size = self._points_frame(anchors)
        points = codes[..., 4:] * size + center
        return tf.concat([self._box_coder.decode(codes[..., :4], anchors), points], axis=-1)

    @property
    def _box_coder(self) -> FasterRcnnCoder:
        return FasterRcnnCoder(self.scale_factors)

    def _points_frame(self, anchors: Any) -> tuple[Any, Any]:
        """Returns origin and unit of the codes of all points, `[..., 2 * num_keypoints]`."""
        center, size = _center_and_size(anchors)
        size /= tf.constant(self.scale_factors[:2], tf.float32)
        repeats = self.num_keypoints
        return tf.concat([center] * repeats, axis=-1), tf.concat([size] * repeats, axis=-1)


@dataclasses.dataclass(frozen=True)
class RotatedCoder:
    """Encodes rotated boxes `[..., 5]` with the angle as (cos 2a, sin 2a).

    The angle of a box jumps from pi/2 to -pi/2 where its sides turn by nothing; the code does
    not. Height and width, which are not those of the anchor's sides, are relative to the side
    of a square of the anchor's area.

    Attributes:
      scale_factors: of the row and column of the centre, of height, width, and direction.
    """

    scale_factors: tuple[float, ...] = (10.0, 10.0, 5.0, 5.0, 5.0)
    code_size: int = dataclasses.field(default=6, init=False)

    def encode(self, boxes: Any, anchors: Any) -> Any:
        """Returns the codes `[..., 6]`: down, across, logs of height and width, direction."""
        anchor_center, anchor_size = _center_and_size(anchors)
        size = tf.maximum(boxes[..., 2:4], _LEAST)
        double = 2 * boxes[..., 4:]
        codes = [
            (boxes[..., :2] - anchor_center) / anchor_size,
            tf.log(size / _side(anchor_size)),
            tf.cos(double) + tf.zeros_like(anchor_size[..., :1]),
            tf.sin(double) + tf.zeros_like(anchor_size[..., :1]),
        ]
        return tf.concat(codes, axis=-1) * self._factors()

    def decode(self, codes: Any, anchors: Any) -> Any:
        """Returns the boxes `[..., 5]` of codes `[..., 6]`; directions may have any length."""
        codes /= self._factors()
        anchor_center, anchor_size = _center_and_size(anchors)
        center = codes[..., :2] * anchor_size + anchor_center
        size = _exp(codes[..., 2:4]) * _side(anchor_size)
        angle = tf.math.atan2(codes[..., 5:], codes[..., 4:5]) / 2
        return rotated.canonical(tf.concat([center, size, angle], axis=-1))

    def _factors(self) -> Any:
        return tf.constant([*self.scale_factors, self.scale_factors[-1]], tf.float32)


def _center_and_size(boxes: Any) -> tuple[Any, Any]:
    upper_left, lower_right = boxes[..., :2], boxes[..., 2:]
    size = tf.maximum(lower_right - upper_left, _LEAST)
    return (upper_left + lower_right) / 2, size


def _side(size: Any) -> Any:
    """Returns the side of a square of the same area, `[..., 1]`."""
    return tf.sqrt(size[..., :1] * size[..., 1:])


def _exp(logs: Any) -> Any:
    return tf.exp(tf.minimum(logs, _GREATEST_LOG))
