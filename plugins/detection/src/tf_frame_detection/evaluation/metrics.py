"""Metrics of detections over the batches of an evaluation.

Boxes are collected by an op in the process of the session. A local variable counts the images of
this evaluation: images beyond the count belong to an earlier evaluation and are dropped. So
an evaluation that begins by initialising the local variables begins anew, also in a graph and
session that are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo
from tf_frame_detection.boxes.rotated import corners, from_corners
from tf_frame_detection.evaluation.figures import Figures
from tf_frame_detection.evaluation.images import Found, Image, Truth
from tf_frame_vision.confusion import metric_names


def detection_metrics(
    labels: Mapping[str, Any],
    predictions: Mapping[str, Any],
    features: Mapping[str, Any],
    *,
    info: InputInfo,
    rotated: bool = False,
    voc: bool = False,
) -> dict[str, tuple[Any, Any]]:
    """Compares detections with boxes in pixels of the image files.

    Args:
      labels: `boxes` `[batch, count, 4]`, or with `rotated` `rotated_boxes` `[batch, count, 5]`,
        in pixels of the image as it is fed; `classes` `[batch, count]`, -1 for padding;
        `ignored` and `crowd`, `[batch, count]` bool.
      predictions: `detection_boxes` `[batch, n, 4]`, or with `rotated` `detection_corners`
        `[batch, n, 4, 2]`, as shares of height and width; `detection_scores` and
        `detection_classes`, `[batch, n]`; `num_detections` `[batch]`.
      features: `image_size` and `original_size`, `[batch, 2]`: height and width as fed, without
        padding, and of the file.
      info: number and names of the classes.
      rotated: whether boxes are rotated.
      voc: whether VOC's AP is computed, too.

    Returns:
      The figures that `tf_frame_detection.evaluation.figures` describes, each a (value,
      update op) pair.
    """
    assert info.num_classes, "the model checks it"
    figures = Figures(
        class_names=metric_names(info.class_names, info.num_classes), rotated=rotated, voc=voc
    )
    original = tf.cast(features["original_size"], tf.float32)[:, tf.newaxis]
    scale = original / tf.cast(features["image_size"], tf.float32)[:, tf.newaxis]
    if rotated:
        boxes = _scaled_corners(corners(labels["rotated_boxes"]), scale)
        detected = _scaled_corners(predictions["detection_corners"], original)
    else:
        boxes = labels["boxes"] * tf.tile(scale, [1, 1, 2])
        detected = predictions["detection_boxes"] * tf.tile(original, [1, 1, 2])
    truth = [boxes, *(labels[name] for name in ("classes", "ignored", "crowd"))]
    names = ("detection_scores", "detection_classes", "num_detections")
    with tf.device("/device:CPU:0"):
        return _collected(figures, [*truth, detected, *(predictions[name] for name in names)])


def _scaled_corners(points: Any, scale: Any) -> Any:
    """Returns rotated boxes `[batch, n, 5]` of corners `[batch, n, 4, 2]` times `[batch, 1, 2]`."""
    return from_corners(points * scale[:, :, tf.newaxis])


def _collected(figures: Figures, batch: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
    """Returns the metrics, with the op that adds a batch."""
    images: list[Image] = []
    count = tf.Variable(
        tf.constant(0, tf.int64),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
        name="detection_metrics/num_images",
    )

    def add(before: Any, *arrays: Any) -> Any:
        del images[before:]
        images.extend(_image(*example) for example in zip(*arrays, strict=True))
        return np.int64(len(images))

    def compute(number: Any) -> Any:
        return np.array(list(figures.compute(images[:number]).values()), np.float32)

    after = tf.numpy_function(add, [count, *batch], tf.int64)
    update = tf.assign(count, tf.ensure_shape(after, []))
    names = figures.names()
    values = tf.ensure_shape(tf.numpy_function(compute, [count], tf.float32), [len(names)])
    return {name: (values[index], update) for index, name in enumerate(names)}


def _image(
    boxes: Any,
    classes: Any,
    ignored: Any,
    crowd: Any,
    found: Any,
    scores: Any,
    found_classes: Any,
    count: int,
) -> Image:
    """Returns an image without the padding; copies, for the arrays may be TensorFlow's."""
    is_real = classes >= 0
    truth = (part[is_real] for part in (boxes.astype(np.float64), classes, ignored, crowd))
    detections = (found.astype(np.float64), scores, found_classes)
    return Image(Truth(*truth), Found(*(np.array(part[:count]) for part in detections)))
