"""DeepLab's segmentation loss: softmax cross entropy for each scale, with hard example mining.

Shapes, names, numbers and errors are those of tensorflow/models,
research/deeplab/utils/train_utils.py (2020).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers import resize_bilinear, spatial_size
from tf_frame.legacy.label_weights import get_label_weight_mask

logger = logging.getLogger("tf_frame")


def add_softmax_cross_entropy_loss_for_each_scale(
    scales_to_logits: Mapping[str, Any],
    labels: Any,
    num_classes: int,
    ignore_label: int,
    loss_weight: float | list[float] = 1.0,
    upsample_logits: bool = True,
    hard_example_mining_step: int = 0,
    top_k_percent_pixels: float = 1.0,
    gt_is_matting_map: bool = False,
    scope: str | None = None,
) -> None:
    """Adds one loss for each scale to `tf.GraphKeys.LOSSES`.

    Args:
      scales_to_logits: name of the scale -> logits `[batch, logits_height,
        logits_width, num_classes]`.
      labels: `[batch, image_height, image_width, 1]`.
      num_classes: number of classes.
      ignore_label: label of pixels that do not count.
      loss_weight: weight of all labels, or a list with one for each class.
      upsample_logits: resize the logits to the labels, bilinearly; otherwise
        the labels to the logits, to the nearest.
      hard_example_mining_step: step at which the part of the pixels that count
        has fallen from all to `top_k_percent_pixels`; 0 means from the start.
      top_k_percent_pixels: part of the pixels that count, those with the largest
        losses, from 0 to 1. At 1 the mean is over the pixels that are not
        ignored, below it over those whose loss is not 0.
      gt_is_matting_map: the labels are confidences from 0 to 1, of the second
        of two classes.
      scope: start of the names of the losses, `SCOPE_SCALE`.

    Raises:
      ValueError: no labels; a matting map that is not of floats, or has
        weights.
    """
    if labels is None:
        raise ValueError("No label for softmax cross entropy loss.")
    if gt_is_matting_map:
        _check_matting_map(labels, loss_weight)
        if not upsample_logits:
            logger.warning("Label downsampling with nearest neighbor may introduce artifacts.")
    hardest = None
    if top_k_percent_pixels != 1.0:
        hardest = _part_of_pixels(hard_example_mining_step, top_k_percent_pixels)
    for scale, logits in scales_to_logits.items():
        logits, scaled = _at_one_size(logits, labels, upsample_logits)
        counts = tf.cast(tf.not_equal(scaled, ignore_label), tf.float32)
        weights = get_label_weight_mask(scaled, ignore_label, num_classes, loss_weight)
        targets = _two_classes(scaled) if gt_is_matting_map else tf.one_hot(scaled, num_classes)
        with _loss_scope(scope, scale, hardest):
            losses = weights * tf.nn.softmax_cross_entropy_with_logits_v2(
                labels=tf.stop_gradient(targets),
                logits=tf.reshape(logits, [-1, num_classes]),
                name="pixel_losses",
            )
            tf.losses.add_loss(
                _div_maybe_zero(tf.reduce_sum(losses), tf.reduce_sum(counts))
                if hardest is None
                else _mean_of_hardest(losses, hardest)
            )


def _loss_scope(scope: str | None, scale: str, hardest: Any) -> Any:
    default_name = "softmax_all_pixel_loss" if hardest is None else "softmax_hard_example_mining"
    return tf.name_scope(f"{scope}_{scale}" if scope else None, default_name)


def _check_matting_map(labels: Any, loss_weight: Any) -> None:
    if not labels.dtype.is_floating:
        raise ValueError("Labels must be floats if groundtruth is a matting map.")
    if loss_weight != 1.0:
        raise ValueError("loss_weight must equal to 1 if groundtruth is matting map.")


def _at_one_size(logits: Any, labels: Any, upsample_logits: bool) -> tuple[Any, Any]:
    """Logits `[batch, height, width, num_classes]`, and labels in a row."""
    if upsample_logits:
        logits = resize_bilinear(logits, spatial_size(labels), align_corners=True)
    else:
        labels = tf.raw_ops.ResizeNearestNeighbor(
            images=labels, size=spatial_size(logits), align_corners=True
        )
    return logits, tf.reshape(labels, [-1])


def _two_classes(confidences: Any) -> Any:
    return tf.stack([1.0 - confidences, confidences], axis=1)


def _part_of_pixels(mining_step: int, top_k_percent_pixels: float) -> Any:
    """Which part of the pixels counts, at the current global step."""
    if not mining_step:
        return top_k_percent_pixels
    step = tf.cast(tf.train.get_or_create_global_step(), tf.float32)
    done = tf.minimum(1.0, step / mining_step)
    return done * top_k_percent_pixels + (1.0 - done)


def _mean_of_hardest(losses: Any, part: Any) -> Any:
    """Mean of the largest losses, those that are 0 left out.

    Args:
      losses: one per pixel, in a row.
      part: which part of them to take, from 0 to 1.
    """
    count = tf.cast(part * tf.cast(tf.size(losses), tf.float32), tf.int32)
    hardest, _ = tf.nn.top_k(losses, k=count, name="top_k_percent_pixels")
    present = tf.reduce_sum(tf.cast(tf.not_equal(hardest, 0.0), tf.float32))
    return _div_maybe_zero(tf.reduce_sum(hardest), present)


def _div_maybe_zero(total_loss: Any, num_present: Any) -> Any:
    """`total_loss / num_present`, or 0 if there are none present."""
    return tf.cast(num_present > 0, tf.float32) * total_loss / tf.maximum(1e-5, num_present)
