"""Loss of a batch: classes and boxes of all anchors, or of the hard ones.

By default the sum over the anchors of an image is divided by its own number of matched anchors,
and the mean over images is taken: then the mean over clones is the loss of their whole batch,
however many boxes the images of each clone have. Divided by the matches of the batch, as in the
object detection API, it is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.losses.mining import HardExampleMiner
from tf_frame_detection.losses.pointwise import (
    sigmoid_focal,
    smooth_l1,
    weighted_sigmoid,
    weighted_softmax,
)
from tf_frame_detection.networks.detector import Raw
from tf_frame_detection.options import FOCAL, PER_BATCH, SOFTMAX
from tf_frame_detection.targets.assigner import Targets, with_background


def detection_losses(raw: Raw, targets: Targets, params: Any, *, coder: Any) -> dict[str, Any]:
    """Returns `classification_loss` and `localization_loss`, scalars, weighted.

    Args:
      raw: outputs of the network.
      targets: of the batch.
      coder: decodes boxes, for hard example mining.
    """
    class_losses = _class_losses(raw.logits, targets, params)
    box_losses = smooth_l1(
        raw.codes, targets.box_targets, targets.box_weights, delta=params.smooth_l1_delta
    )
    if params.normalize_by_code_size:
        box_losses /= coder.code_size
    if params.hard_example_mining:
        chosen = _hard_examples(class_losses, box_losses, raw, targets, params, coder)
        class_losses, box_losses = class_losses * chosen, box_losses * chosen
    matches = tf.reduce_sum(targets.box_weights, axis=1)
    return {
        "classification_loss": params.classification_weight
        * _normalized(class_losses, matches, params),
        "localization_loss": params.localization_weight * _normalized(box_losses, matches, params),
    }


def _class_losses(logits: Any, targets: Targets, params: Any) -> Any:
    if params.classification_loss == SOFTMAX:
        classes = with_background(targets.class_targets)
        return weighted_softmax(logits, classes, targets.class_weights)
    # The background is where all classes are 0; its own logit does not count.
    logits = logits[..., 1:]
    if params.classification_loss == FOCAL:
        return sigmoid_focal(
            logits,
            targets.class_targets,
            targets.class_weights,
            alpha=params.focal_alpha,
            gamma=params.focal_gamma,
        )
    return weighted_sigmoid(logits, targets.class_targets, targets.class_weights)


def _hard_examples(
    class_losses: Any, box_losses: Any, raw: Raw, targets: Targets, params: Any, coder: Any
) -> Any:
    """Returns 1 for the anchors that count, else 0, `[batch, anchors]`."""
    mine = HardExampleMiner(
        num_hard_examples=params.num_hard_examples,
        iou_threshold=params.hard_example_iou,
        loss_type=params.hard_example_loss,
        class_loss_weight=params.classification_weight,
        box_loss_weight=params.localization_weight,
        max_negatives_per_positive=params.max_negatives_per_positive,
        min_negatives_per_image=params.min_negatives_per_image,
    )
    boxes = upright_boxes(coder.decode(raw.codes, raw.anchors))
    return tf.stop_gradient(mine(class_losses, box_losses, boxes, targets.matches))


def upright_boxes(boxes: Any) -> Any:
    """Returns boxes `[..., 4]` as they are, and for rotated ones those that enclose them."""
    from tf_frame_detection.boxes.rotated import enclosing

    return enclosing(boxes) if boxes.shape[-1] == 5 else boxes


def loss_terms(losses: Mapping[str, Any], targets: Targets, params: Any) -> list[tuple[Any, Any]]:
    """Returns the `loss_terms` of a `ModelOutput`, where the loss is no mean over the images.

    Args:
      losses: result of `detection_losses`.
      targets, params: as there.
    """
    if params.loss_normalizer != PER_BATCH:
        return []
    matches = tf.reduce_sum(targets.box_weights)
    return [(tf.add_n(list(losses.values())) * tf.maximum(matches, 1.0), matches)]


def _normalized(losses: Any, matches: Any, params: Any) -> Any:
    of_images = tf.reduce_sum(losses, axis=1)
    if params.loss_normalizer == PER_BATCH:
        return tf.reduce_sum(of_images) / tf.maximum(tf.reduce_sum(matches), 1.0)
    return tf.reduce_mean(of_images / tf.maximum(matches, 1.0))
