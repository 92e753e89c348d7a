"""Metrics of detections over the batches of an evaluation.

Boxes are collected by an op in the process of the session. A local variable counts the images of
this evaluation: what was collected beyond the count belongs to an earlier one and is dropped. So
an evaluation that begins by initialising the local variables begins anew, also in a graph and
session that are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo
from tf_frame_detection.evaluation.figures import Figures
from tf_frame_detection.evaluation.images import Found, Image, Truth
from tf_frame_detection.evaluation.overlaps import Overlaps, rotated_overlaps, upright_overlaps
from tf_frame_detection.evaluation.rotation import from_corners, scaled
from tf_frame_vision.confusion import metric_names


def detection_metrics(
    labels: Mapping[str, Any],
    predictions: Mapping[str, Any],
    features: Mapping[str, Any],
    *,
    info: InputInfo,
    rotated: bool = False,
    voc: bool = False,
    overlaps: Overlaps | None = None,
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
      overlaps: of detections and boxes; None: their IoU.

    Returns:
      The figures that `tf_frame_detection.evaluation.figures` describes, each a (value,
      update op) pair.
    """
    assert info.num_classes, "the model checks it"
    if overlaps is None:
        overlaps = _exact_overlaps() if rotated else upright_overlaps
    figures = Figures(
        class_names=metric_names(info.class_names, info.num_classes),
        rotated=rotated,
        overlaps=overlaps,
        voc=voc,
    )
    batch = [
        labels["rotated_boxes" if rotated else "boxes"],
        *(labels[name] for name in ("classes", "ignored", "crowd")),
        predictions["detection_corners" if rotated else "detection_boxes"],
        *(predictions[f"detection_{name}"] for name in ("scores", "classes")),
        *(predictions["num_detections"], features["image_size"], features["original_size"]),
    ]
    with tf.device("/device:CPU:0"):
        return _collected(figures, batch)


def _exact_overlaps() -> Overlaps:
    from tf_frame_detection.boxes import rotated_numpy

    return rotated_overlaps(rotated_numpy.iou)


def _collected(figures: Figures, batch: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
    """The metrics, and the op that adds a batch."""
    images: list[Image] = []
    count = tf.Variable(
        tf.constant(0, tf.int64),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
        name="detection_metrics/num_images",
    )

    def add(before: Any, *arrays: Any) -> Any:
        del images[before:]
        examples = zip(*arrays, strict=True)
        images.extend(_image(example, rotated=figures.rotated) for example in examples)
        return np.int64(len(images))

    def compute(number: Any) -> Any:
        return np.array(list(figures.compute(images[:number]).values()), np.float32)

    after = tf.numpy_function(add, [count, *batch], tf.int64)
    update = tf.assign(count, tf.ensure_shape(after, []))
    names = figures.names()
    values = tf.ensure_shape(tf.numpy_function(compute, [count], tf.float32), [len(names)])
    return {name: (values[index], update) for index, name in enumerate(names)}


def _image(arrays: Sequence[Any], *, rotated: bool) -> Image:
    """Returns an image in pixels of its file, without padding.

    Args:
      arrays: those of the batch in `detection_metrics`, of one example.
      rotated: whether boxes are rotated.
    """
    boxes, classes, ignored, crowd, found, scores, found_classes, count, *sizes = arrays
    fed, original = (size.astype(np.float64) for size in sizes)
    if rotated:
        boxes, found = scaled(boxes, original / fed), from_corners(found * original)
    else:
        boxes, found = boxes * np.tile(original / fed, 2), found * np.tile(original, 2)
    is_real = classes >= 0
    truth = (part[is_real] for part in (boxes, classes, ignored, crowd))
    # Copies, for an array of the batch may be one of TensorFlow's.
    detections = (np.array(part[:count]) for part in (found, scores, found_classes))
    return Image(Truth(*truth), Found(*detections))
