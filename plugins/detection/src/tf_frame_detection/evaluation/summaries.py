"""Image summaries of detections for TensorBoard: boxes of the data set left, detections right.

They are drawn by an op in the process of the session, and only when summaries are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.evaluation.painting import Painting
from tf_frame_vision.drawing.boxes import enlarged, upright_corners
from tf_frame_vision.drawing.own_picture import resized

_MAX_IMAGES = 3
_GAP = 8


def add_pictures(
    features: Mapping[str, Any],
    labels: Mapping[str, Any],
    predictions: Mapping[str, Any],
    painting: Painting,
    *,
    rotated: bool = False,
) -> None:
    """Adds the summary `truth_and_detections` of the first images of a batch.

    Args:
      features, labels, predictions: see `tf_frame_detection.evaluation.metrics`; features also
        have `image`, `[batch, height, width, 3]`, 0 to 255. Pictures have the aspect of
        `original_size`, if it is there, without padding.
      painting: names and colours of the classes.
      rotated: whether boxes are rotated.
    """
    parts = [
        features["image"],
        features["image_size"],
        features.get("original_size", features["image_size"]),
        labels["rotated_boxes" if rotated else "boxes"],
        labels["classes"],
        labels["ignored"],
        predictions["detection_corners" if rotated else "detection_boxes"],
        predictions["detection_scores"],
        predictions["detection_classes"],
    ]

    def drawn(*arrays: Any) -> Any:
        return _stacked([_pair(painting, *part) for part in zip(*arrays, strict=True)])

    with tf.device("/device:CPU:0"):
        pictures = tf.numpy_function(drawn, [part[:_MAX_IMAGES] for part in parts], tf.uint8)
        pictures.set_shape([None, None, None, 3])
        tf.summary.image("truth_and_detections", pictures, max_outputs=_MAX_IMAGES)


def _pair(
    painting: Painting,
    image: Any,
    size: Any,
    original: Any,
    boxes: Any,
    classes: Any,
    ignored: Any,
    found: Any,
    scores: Any,
    found_classes: Any,
) -> Any:
    """Returns both pictures of an image, side by side."""
    height, width = size
    # As large as the network sees it, which bounds the size of events.
    shown = original * (max(height, width) / max(*original, 1))
    picture = enlarged(resized(image[:height, :width], np.round(shown)))
    gap = np.full([len(picture), _GAP, 3], 255, np.uint8)
    left = painting.draw_truth(picture, _corners(boxes) / size, classes, ignored)
    # Detections are shares of the image without its padding.
    right = painting.draw_found(picture, _corners(found), scores, found_classes)
    return np.concatenate([left, gap, right], axis=1)


def _stacked(pictures: Sequence[Any]) -> Any:
    """Returns pictures of any sizes as a batch, white to the right and below."""
    size = np.max([picture.shape[:2] for picture in pictures], axis=0)
    rooms = [size - picture.shape[:2] for picture in pictures]
    return np.stack(
        [
            np.pad(picture, [(0, below), (0, right), (0, 0)], constant_values=255)
            for picture, (below, right) in zip(pictures, rooms, strict=True)
        ]
    )


def _corners(boxes: Any) -> Any:
    """Corners `[n, 4, 2]` of upright boxes, of rotated ones, or as they are."""
    if boxes.ndim == 3:
        return boxes
    return upright_corners(boxes) if boxes.shape[1] == 4 else rotated_numpy.corners(boxes)
