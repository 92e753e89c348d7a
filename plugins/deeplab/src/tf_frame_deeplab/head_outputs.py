"""Predictions, losses, metrics and pictures of the heads of the model `deeplab`.

`outputs` has those of a network whose only head is `semantic`, with its plain loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab import losses
from tf_frame_deeplab.heads import CENTER, EDGE, INSTANCES, OFFSET, SEMANTIC, HeadParams
from tf_frame_deeplab.outputs import segmentation_loss
from tf_frame_vision.confusion import confusion_matrix


def head_predictions(
    logits: Mapping[str, Any],
    semantic: Any,
    *,
    params: HeadParams,
    things: tuple[int, ...],
    num_classes: int,
) -> dict[str, Any]:
    """Predictions of all heads but `semantic`.

    Args:
      logits: head -> `[batch, height, width, channels]`.
      semantic: `[batch, height, width]` int32, predicted classes.
      params: options of the heads.
      things: classes that have instances.
      num_classes: number of classes.

    Returns:
      `edge`, and of the heads for instances `instances` and `panoptic_semantic`, the
      class of all pixels of an instance: each `[batch, height, width]` int32.
    """
    predictions = {}
    if EDGE in logits:
        predictions[EDGE] = tf.argmax(logits[EDGE], axis=3, output_type=tf.int32)
    if CENTER in logits:
        from tf_frame_deeplab.panoptic.grouping import instances_of

        classes, instances = instances_of(
            semantic,
            logits[CENTER],
            logits[OFFSET],
            threshold=params.center_threshold,
            window=params.center_window,
            max_instances=params.max_instances,
            thing_classes=things,
            num_classes=num_classes,
        )
        predictions |= {INSTANCES: instances, "panoptic_semantic": classes}
    return predictions


def head_loss(
    logits: Mapping[str, Any],
    labels: Mapping[str, Any],
    *,
    params: HeadParams,
    ignore_label: int | None,
    is_training: bool,
) -> Any:
    """Weighted sum of the losses of all heads, each with a summary `losses/<head>`.

    Args:
      logits: head -> `[batch, height, width, channels]`.
      labels: head -> label; see `panoptic.targets.Targets`.
      params: options of the heads.
      ignore_label: label of pixels that do not count, or None.
      is_training: whether only hard pixels may count.
    """
    values = {SEMANTIC: _semantic(logits, labels, params, ignore_label, is_training)}
    if EDGE in logits:
        values[EDGE] = segmentation_loss(logits[EDGE], labels[EDGE], ignore_label)
    if CENTER in logits:
        semantic = labels[SEMANTIC]
        counts = tf.ones_like(semantic, tf.bool)
        if ignore_label is not None:
            counts = tf.not_equal(semantic, ignore_label)
        values[CENTER] = losses.center_loss(logits[CENTER], labels[CENTER], counts)
        values[OFFSET] = losses.offset_loss(logits[OFFSET], labels[OFFSET])
    if len(values) == 1 and params.weight_of(SEMANTIC) == 1.0:
        return values[SEMANTIC]
    for head, value in values.items():
        tf.summary.scalar(f"losses/{head}", value)
    return tf.add_n([params.weight_of(head) * value for head, value in values.items()])


def _semantic(
    logits: Mapping[str, Any],
    labels: Mapping[str, Any],
    params: HeadParams,
    ignore_label: int | None,
    is_training: bool,
) -> Any:
    if not params.class_weights and (params.hard_pixels == 1.0 or not is_training):
        return segmentation_loss(logits[SEMANTIC], labels[SEMANTIC], ignore_label)
    share: Any = 1.0
    if is_training:
        share = losses.share_of_hard_pixels(params.hard_pixels, params.hard_pixel_steps)
    return losses.semantic_loss(
        logits[SEMANTIC],
        labels[SEMANTIC],
        ignore_label,
        class_weights=params.class_weights,
        hard_pixels=share,
    )


def edge_metrics(labels: Any, edges: Any, ignore_label: int | None) -> dict[str, tuple[Any, Any]]:
    """F-score of the pixels that are edges, over all batches of an evaluation.

    Args:
      labels: `[batch, height, width]` int32, 1 for an edge.
      edges: the same, predicted.
      ignore_label: label of pixels that do not count, or None.
    """
    labels, edges = tf.reshape(labels, [-1]), tf.reshape(edges, [-1])
    weights = tf.ones_like(labels, tf.float64)
    if ignore_label is not None:
        known = tf.not_equal(labels, ignore_label)
        labels, weights = tf.where(known, labels, edges), tf.cast(known, tf.float64)
    with tf.variable_scope("edge"):
        total, update = confusion_matrix(labels, edges, 2, weights=weights)
    wrong = total[0, 1] + total[1, 0]
    score = tf.div_no_nan(2 * total[1, 1], 2 * total[1, 1] + wrong)
    return {"edge_f_score": (tf.cast(score, tf.float32), update)}


def head_metrics(
    labels: Mapping[str, Any],
    predictions: Mapping[str, Any],
    *,
    things: tuple[int, ...],
    **classes: Any,
) -> dict[str, tuple[Any, Any]]:
    """Metrics of all heads but `semantic`, as (value, update op) pairs.

    Args:
      labels: head -> label.
      predictions: `semantic`, and those of `head_predictions`.
      things: classes that have instances.
      **classes: `num_classes`, `class_names`, `ignore_label`.
    """
    metrics = {}
    if EDGE in predictions:
        metrics |= edge_metrics(labels[EDGE], predictions[EDGE], classes["ignore_label"])
    if INSTANCES in predictions:
        from tf_frame_deeplab.panoptic.metrics import panoptic_metrics

        metrics |= panoptic_metrics(labels, predictions, things=things, **classes)
    return metrics
