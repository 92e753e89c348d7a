"""Image summaries of detections for TensorBoard: boxes of the data set left, detections right.

They are drawn by an op in the process of the session, and only when summaries are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.evaluation.painting import Painting
from tf_frame_vision.drawing.boxes import enlarged, upright_corners

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
        have `image`, `[batch, height, width, 3]`, 0 to 255.
      painting: names and colours of the classes.
      rotated: whether boxes are rotated.
    """
    parts = [
        features["image"],
        features["image_size"],
        labels["rotated_boxes" if rotated else "boxes"],
        labels["classes"],
        labels["ignored"],
        predictions["detection_corners" if rotated else "detection_boxes"],
        predictions["detection_scores"],
        predictions["detection_classes"],
    ]

    def drawn(*arrays: Any) -> Any:
        return np.stack([_pair(painting, *part) for part in zip(*arrays, strict=True)])

    with tf.device("/device:CPU:0"):
        pictures = tf.numpy_function(drawn, [part[:_MAX_IMAGES] for part in parts], tf.uint8)
        pictures.set_shape([None, None, None, 3])
        tf.summary.image("truth_and_detections", pictures, max_outputs=_MAX_IMAGES)


def _pair(
    painting: Painting,
    image: Any,
    size: Any,
    boxes: Any,
    classes: Any,
    ignored: Any,
    found: Any,
    scores: Any,
    found_classes: Any,
) -> Any:
    """Returns both pictures of an image, side by side."""
    picture = enlarged(np.clip(np.round(image), 0, 255).astype(np.uint8))
    fed = image.shape[:2]
    # Detections are shares of the image without its padding.
    corners = _corners(found) * (size / fed)
    gap = np.full([len(picture), _GAP, 3], 255, np.uint8)
    left = painting.draw_truth(picture, _corners(boxes) / fed, classes, ignored)
    right = painting.draw_found(picture, corners, scores, found_classes)
    return np.concatenate([left, gap, right], axis=1)


def _corners(boxes: Any) -> Any:
    """Corners `[n, 4, 2]` of upright boxes, of rotated ones, or as they are."""
    if boxes.ndim == 3:
        return boxes
    return upright_corners(boxes) if boxes.shape[1] == 4 else rotated_numpy.corners(boxes)
