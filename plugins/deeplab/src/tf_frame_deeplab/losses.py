"""Losses of the heads of the model `deeplab`.

A loss is a sum over pixels of the clone's batch divided by the number of counted pixels, so that
neither the size of a crop nor ignored pixels change its scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.heads import CENTER, EDGE, OFFSET, SEMANTIC, HeadParams
from tf_frame_deeplab.outputs import PixelLoss, segmentation_loss


class HeadLoss(NamedTuple):
    """The loss of all heads.

    Attributes:
      loss: scalar.
      terms: `loss_terms` of a `ModelOutput`.
    """

    loss: Any
    terms: Sequence[PixelLoss]


def head_loss(
    logits: Mapping[str, Any],
    labels: Mapping[str, Any],
    *,
    scales: Sequence[Any] = (),
    params: HeadParams,
    ignore_label: int | None,
    is_training: bool,
) -> HeadLoss:
    """Returns the weighted sum of the losses of all heads, and adds summaries `losses/<head>`.

    Args:
      logits: head -> `[batch, height, width, channels]`.
      labels: head -> label; see `panoptic.targets.Targets`.
      scales: logits of the classes of single scales; their losses are added, as in DeepLab; see
        `image_pyramid`.
      params: options of the heads.
      ignore_label: label of pixels that do not count, or None.
      is_training: whether only hard pixels may count.
    """
    losses = {
        SEMANTIC: [
            _semantic(scale_logits, labels[SEMANTIC], params, ignore_label, is_training)
            for scale_logits in (logits[SEMANTIC], *scales)
        ]
    }
    if EDGE in logits:
        losses[EDGE] = [segmentation_loss(logits[EDGE], labels[EDGE], ignore_label)]
    if CENTER in logits:
        classes = labels[SEMANTIC]
        counts = tf.ones_like(classes, tf.bool)
        if ignore_label is not None:
            counts = tf.not_equal(classes, ignore_label)
        losses[CENTER] = [center_loss(logits[CENTER], labels[CENTER], counts)]
        losses[OFFSET] = [offset_loss(logits[OFFSET], labels[OFFSET])]
    terms = [
        PixelLoss(params.loss_weight(head) * part.total, part.count)
        for head, parts in losses.items()
        for part in parts
    ]
    means = {head: [part.mean() for part in parts] for head, parts in losses.items()}
    values = {head: tf.add_n(m) if len(m) > 1 else m[0] for head, m in means.items()}
    if len(values) == 1 and params.loss_weight(SEMANTIC) == 1.0:
        return HeadLoss(values[SEMANTIC], terms)
    for head, value in values.items():
        tf.summary.scalar(f"losses/{head}", value)
    weighted = [params.loss_weight(head) * value for head, value in values.items()]
    return HeadLoss(tf.add_n(weighted), terms)


def _semantic(
    logits: Any, labels: Any, params: HeadParams, ignore_label: int | None, is_training: bool
) -> PixelLoss:
    if not params.class_weights and (params.hard_pixels == 1.0 or not is_training):
        return segmentation_loss(logits, labels, ignore_label)
    share: Any = 1.0
    if is_training:
        share = hard_pixel_share(params.hard_pixels, params.hard_pixel_steps)
    return semantic_loss(
        logits, labels, ignore_label, class_weights=params.class_weights, hard_pixels=share
    )


def semantic_loss(
    logits: Any,
    labels: Any,
    ignore_label: int | None,
    *,
    class_weights: Sequence[float] = (),
    hard_pixels: Any = 1.0,
) -> PixelLoss:
    """Returns the softmax cross entropy with class weights, over all or the hardest pixels.

    As in `add_softmax_cross_entropy_loss_for_each_scale` of DeepLab
    (tensorflow/models, research/deeplab/utils/train_utils.py): the weighted sum is
    divided by the number of pixels that count; with hard pixels, by the number of
    hard pixels with a loss other than 0.

    Args:
      logits: `[batch, height, width, num_classes]`.
      labels: `[batch, height, width]` int32.
      ignore_label: label of pixels that do not count, or None.
      class_weights: factor of each class; empty: 1.
      hard_pixels: share of all pixels of the batch that counts, 1.0 for all; or a
        scalar tensor, see `hard_pixel_share`.
    """
    counts = tf.ones_like(labels, tf.bool)
    if ignore_label is not None:
        counts = tf.not_equal(labels, ignore_label)
    labels = tf.where(counts, labels, tf.zeros_like(labels))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    losses *= tf.cast(counts, tf.float32)
    if class_weights:
        losses *= tf.gather(tf.constant(class_weights, tf.float32), labels)
    if isinstance(hard_pixels, float) and hard_pixels == 1.0:
        return _pixel_loss(losses, counts)
    losses = tf.reshape(losses, [-1])
    number = tf.cast(tf.cast(tf.size(losses), tf.float32) * hard_pixels, tf.int32)
    hardest = tf.math.top_k(losses, tf.maximum(number, 1), sorted=False).values
    return _pixel_loss(hardest, tf.not_equal(hardest, 0))


def hard_pixel_share(share: float, steps: int) -> Any:
    """Returns the share that counts at the global step: a linear fall from 1 to `share`.

    Args:
      share: its last value.
      steps: number of steps until then; 0: at once.
    """
    if share == 1.0 or not steps:
        return share
    progress = tf.cast(tf.train.get_or_create_global_step(), tf.float32) / steps
    return 1.0 - tf.minimum(progress, 1.0) * (1.0 - share)


def center_loss(heat: Any, labels: Any, counts: Any) -> PixelLoss:
    """Returns the squared difference from the centres' heat map.

    The sum is over all pixels that count, and is divided by the number of pixels
    near a centre: without a centre nearby most pixels are easy.

    Args:
      heat: `[batch, height, width, 1]`.
      labels: `[batch, height, width, 1]`, 0 to 1, exactly 0 far from centres.
      counts: `[batch, height, width]` bool.
    """
    squares = tf.squeeze(tf.math.squared_difference(heat, labels), axis=3)
    is_near_centre = tf.logical_and(tf.not_equal(labels[..., 0], 0), counts)
    return _pixel_loss(squares * tf.cast(counts, tf.float32), is_near_centre)


def offset_loss(offsets: Any, labels: Any) -> PixelLoss:
    """Returns the distances from the offsets to the centres, rows plus columns, in pixels.

    Args:
      offsets: `[batch, height, width, 2]`, pixels down and across to the centre.
      labels: `[batch, height, width, 3]`; the third channel is 1 for pixels of an
        instance, and 0 for pixels that do not count.
    """
    distances = tf.reduce_sum(tf.abs(offsets - labels[..., :2]), axis=3)
    return _pixel_loss(distances * labels[..., 2], labels[..., 2] > 0)


def _pixel_loss(values: Any, counts: Any) -> PixelLoss:
    """Returns the loss of values, of any shape and 0 where they do not count, and of a mask."""
    return PixelLoss(tf.reduce_sum(values), tf.reduce_sum(tf.cast(counts, tf.float32)))
