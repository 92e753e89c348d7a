"""Detections of a batch as predictions and exports, and summaries with the API's tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import export_format
from tf_frame_detection.boxes import rotated
from tf_frame_detection.networks.detector import Raw
from tf_frame_detection.options import AUTO, GROUPED, LOOP, SOFTMAX
from tf_frame_detection.suppression import detections


def predictions(raw: Raw, image_size: Any, params: Any, *, coder: Any) -> dict[str, Any]:
    """Decodes and suppresses boxes.

    Args:
      raw: outputs of the network.
      image_size: `[batch, 2]` int32, height and width without padding.
      coder: decodes boxes.

    Returns:
      `detection_boxes` `[batch, n, 4]`, as shares of height and width; `detection_scores`
      `[batch, n]`, falling; `detection_classes` `[batch, n]` int32, without background;
      `num_detections` `[batch]` int32; of rotated boxes `detection_corners` `[batch, n, 4, 2]`.
    """
    boxes, scores = _decoded(raw, image_size, params, coder)
    size = tf.cast(image_size, tf.float32)
    kept = detections(
        boxes,
        scores,
        score_threshold=params.score_threshold,
        iou_threshold=params.iou_threshold,
        box_voting_iou=params.box_voting_iou,
        max_per_class=params.max_per_class,
        max_total=params.max_total,
        by_loop=_needs_loop(params.suppression, is_rotated=boxes.shape[-1] == 5),
    )
    cut = _cut_at_image(kept.boxes, image_size) if boxes.shape[-1] == 4 else kept.boxes
    predicted = {
        "detection_boxes": cut / tf.tile(size, [1, 2])[:, tf.newaxis],
        "detection_scores": kept.scores,
        "detection_classes": kept.classes,
        "num_detections": kept.count,
    }
    if kept.corners is not None:
        predicted["detection_corners"] = kept.corners / size[:, tf.newaxis, tf.newaxis]
    return predicted


def _needs_loop(suppression: str, *, is_rotated: bool) -> bool:
    """Returns whether boxes are suppressed by a loop; ONNX has a kernel for upright boxes."""
    if suppression != AUTO:
        return suppression == LOOP
    return export_format() in ("tflite", "tflite_int8") or (
        is_rotated and export_format() == "onnx"
    )


def raw_outputs(raw: Raw, image_size: Any, params: Any, *, coder: Any) -> dict[str, Any]:
    """Returns boxes and scores of all anchors, in order and named as the API exports them.

    Args:
      raw, image_size, params, coder: see `predictions`.

    Returns:
      `raw_detection_boxes` `[batch, anchors, 4]`, as shares of height and width;
      `raw_detection_scores` `[batch, anchors, num_classes]`, without background; of rotated boxes
      `raw_detection_corners` `[batch, anchors, 4, 2]`.
    """
    boxes, scores = _decoded(raw, image_size, params, coder)
    size = tf.cast(image_size, tf.float32)
    is_rotated = boxes.shape[-1] == 5
    upright = rotated.enclosing(boxes) if is_rotated else boxes
    outputs = {
        "raw_detection_boxes": upright / tf.tile(size, [1, 2])[:, tf.newaxis],
        "raw_detection_scores": scores,
    }
    if is_rotated:
        corners = rotated.corners(boxes) / size[:, tf.newaxis, tf.newaxis]
        outputs["raw_detection_corners"] = corners
    return outputs


def _decoded(raw: Raw, image_size: Any, params: Any, coder: Any) -> tuple[Any, Any]:
    """Boxes `[batch, anchors, 4 or 5]`, and scores of classes.

    Upright boxes are cut at the image, unless that follows the suppression.
    """
    if params.classification_loss == SOFTMAX:
        scores = tf.nn.softmax(raw.logits)[..., 1:]
    else:
        scores = tf.sigmoid(raw.logits[..., 1:])
    boxes = coder.decode(raw.codes, raw.anchors)
    if boxes.shape[-1] == 4 and not params.suppress_uncut:
        boxes = _cut_at_image(boxes, image_size)
    return boxes, scores


def _cut_at_image(boxes: Any, image_size: Any) -> Any:
    edges = tf.tile(tf.cast(image_size, tf.float32), [1, 2])[:, tf.newaxis]
    return tf.maximum(tf.minimum(boxes, edges), 0.0)


def exported(predicted: Mapping[str, Any], class_ids: Sequence[int]) -> dict[str, Any]:
    """Returns predictions as the object detection API exports them.

    Classes and numbers are float32, and classes are the data set's own ids.

    Args:
      predicted: those of `predictions`.
      class_ids: id of each class.
    """
    ids = tf.constant(list(class_ids), tf.float32)
    return {
        **predicted,
        "detection_classes": tf.gather(ids, predicted["detection_classes"]),
        "num_detections": tf.cast(predicted["num_detections"], tf.float32),
    }


def add_api_summaries(losses: Mapping[str, Any], style: str) -> None:
    """Adds the summaries of the API's trainers to the first clone.

    A histogram of every model variable and a scalar of every loss, `TotalLoss` among them, which
    includes the regularisation: legacy/trainer.py of tensorflow/models, research/object_detection.

    Args:
      losses: name -> scalar.
      style: `plain` for tags without a group; `grouped` for `ModelVars/...` and `Losses/...`.
    """
    if tf.get_variable_scope().reuse:
        return
    variables, group = ("ModelVars/", "Losses/") if style == GROUPED else ("", "")
    total = tf.add_n([*losses.values(), *tf.losses.get_regularization_losses()])
    # `tf.summary` would change a tag that is the name of an operation, as of a variable.
    summaries = [
        tf.raw_ops.ScalarSummary(tags=f"{group}{name}", values=value)
        for name, value in {**losses, "TotalLoss": total}.items()
    ]
    summaries += [
        tf.raw_ops.HistogramSummary(tag=f"{variables}{v.op.name}", values=v.read_value())
        for v in {v.ref(): v for v in tf.model_variables()}.values()
    ]
    for summary in summaries:
        tf.add_to_collection(tf.GraphKeys.SUMMARIES, summary)
