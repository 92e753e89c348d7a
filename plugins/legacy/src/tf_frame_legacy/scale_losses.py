"""DeepLab's segmentation loss: softmax cross entropy for each scale, with hard example mining.

Shapes, names, values and errors are the same as in tensorflow/models,
research/deeplab/utils/train_utils.py (2020) and core/utils.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers import resize_bilinear, spatial_size

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
      ignore_label: label of pixels that are excluded.
      loss_weight: weight of all labels, or a list with a weight for each class.
      upsample_logits: resize the logits to the size of the labels (bilinear); otherwise
        the labels to the size of the logits (nearest neighbour).
      hard_example_mining_step: step until which the share of selected pixels decreases
        from 1 to `top_k_percent_pixels`; 0: no decrease, that share from the start.
      top_k_percent_pixels: share, from 0 to 1, of pixels with the largest losses that
        are selected. At 1 the mean is over the pixels that are not ignored, below 1
        over selected pixels with a loss other than 0.
      gt_is_matting_map: the labels are confidences from 0 to 1 of the second of two
        classes.
      scope: prefix of the names of the losses, `SCOPE_SCALE`.

    Raises:
      ValueError: no labels; a matting map that is not floating-point, or with weights.
    """
    if labels is None:
        raise ValueError("No label for softmax cross entropy loss.")
    if gt_is_matting_map:
        _check_matting_map(labels, loss_weight)
        if not upsample_logits:
            logger.warning("Label downsampling with nearest neighbor may introduce artifacts.")
    hardest = None
    if top_k_percent_pixels != 1.0:
        hardest = _selected_share(hard_example_mining_step, top_k_percent_pixels)
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
                else _hardest_mean(losses, hardest)
            )


def get_label_weight_mask(
    labels: Any, ignore_label: int, num_classes: int, label_weights: float | list[float] = 1.0
) -> Any:
    """Returns the weight of each label, which is 0 for ignored labels.

    Args:
      labels: labels of any shape, of an integer type if `label_weights` is a list.
      ignore_label: the label to ignore.
      num_classes: number of classes.
      label_weights: one weight for all labels, or a list with a weight for each class; with a
        list, a label that is not a class has weight 0.

    Returns:
      float32 weights of the shape of `labels`.

    Raises:
      ValueError: `label_weights` is neither a float nor a list, or a list of a length
        other than `num_classes`.
    """
    if not isinstance(label_weights, (float, list)):
        raise ValueError(
            "The type of label_weights is invalid, it must be a float or a list; "
            f"it is {label_weights!r}."
        )
    counts = tf.cast(tf.not_equal(labels, ignore_label), tf.float32)
    if isinstance(label_weights, float):
        return counts * label_weights
    if len(label_weights) != num_classes:
        raise ValueError(
            "Length of label_weights must be equal to num_classes if it is a list, "
            f"label_weights: {label_weights}, num_classes: {num_classes}."
        )
    classes = tf.one_hot(labels, num_classes, dtype=tf.float32)
    return counts * tf.tensordot(classes, tf.constant(label_weights, tf.float32), axes=1)


def _loss_scope(scope: str | None, scale: str, hardest: Any) -> Any:
    default_name = "softmax_all_pixel_loss" if hardest is None else "softmax_hard_example_mining"
    return tf.name_scope(f"{scope}_{scale}" if scope else None, default_name)


def _check_matting_map(labels: Any, loss_weight: Any) -> None:
    if not labels.dtype.is_floating:
        raise ValueError("Labels must be floats if groundtruth is a matting map.")
    if loss_weight != 1.0:
        raise ValueError("loss_weight must equal to 1 if groundtruth is matting map.")


def _at_one_size(logits: Any, labels: Any, upsample_logits: bool) -> tuple[Any, Any]:
    """Returns logits `[batch, height, width, num_classes]`, and labels as a vector."""
    if upsample_logits:
        logits = resize_bilinear(logits, spatial_size(labels), align_corners=True)
    else:
        labels = tf.raw_ops.ResizeNearestNeighbor(
            images=labels, size=spatial_size(logits), align_corners=True
        )
    return logits, tf.reshape(labels, [-1])


def _two_classes(confidences: Any) -> Any:
    return tf.stack([1.0 - confidences, confidences], axis=1)


def _selected_share(mining_step: int, top_k_percent_pixels: float) -> Any:
    """Returns the share of selected pixels at the current global step."""
    if not mining_step:
        return top_k_percent_pixels
    step = tf.cast(tf.train.get_or_create_global_step(), tf.float32)
    done = tf.minimum(1.0, step / mining_step)
    return done * top_k_percent_pixels + (1.0 - done)


def _hardest_mean(losses: Any, share: Any) -> Any:
    """Returns the mean of the largest losses that are not 0.

    Args:
      losses: vector of the losses of the pixels.
      share: share of the losses to select, from 0 to 1.
    """
    count = tf.cast(share * tf.cast(tf.size(losses), tf.float32), tf.int32)
    hardest, _ = tf.nn.top_k(losses, k=count, name="top_k_percent_pixels")
    present = tf.reduce_sum(tf.cast(tf.not_equal(hardest, 0.0), tf.float32))
    return _div_maybe_zero(tf.reduce_sum(hardest), present)


def _div_maybe_zero(total_loss: Any, num_present: Any) -> Any:
    """Returns `total_loss / num_present`, or 0 if `num_present` is 0."""
    return tf.cast(num_present > 0, tf.float32) * total_loss / tf.maximum(1e-5, num_present)
