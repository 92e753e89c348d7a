"""The losses of a `DetectionModel` on the batch of a clone, in the collection of losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy.inputs import get_inputs
from tf_frame_detection.legacy.standard_fields import InputDataFields
from tf_frame_legacy.config import TRAIN_CONFIG, Config


def create_losses(
    input_queue: Any,
    create_model_fn: Callable[[], Any],
    train_config: Any,
    boxes_field: str = InputDataFields.groundtruth_boxes,
) -> None:
    """Builds a model on a batch and adds its losses to `tf.GraphKeys.LOSSES`.

    Args:
      input_queue: see `get_inputs`.
      create_model_fn: returns a `DetectionModel`.
      train_config: `merge_multiple_label_boxes` and `use_multiclass_scores` are read.
      boxes_field: see `get_inputs`.
    """
    config = Config(train_config, TRAIN_CONFIG)
    model = create_model_fn()
    images, _, boxes, classes, masks, keypoints, weights = get_inputs(
        input_queue,
        model.num_classes,
        config.merge_multiple_label_boxes,
        config.use_multiclass_scores,
        boxes_field,
    )
    inputs = _preprocessed(model, images)
    optional = {
        "groundtruth_masks_list": masks,
        "groundtruth_keypoints_list": keypoints,
        "groundtruth_weights_list": weights,
    }
    # Models for the API's first versions have no parameter for weights: pass no missing tensors.
    present = {
        name: list(tensors) for name, tensors in optional.items() if all(map(tf.is_tensor, tensors))
    }
    model.provide_groundtruth(list(boxes), list(classes), **present)
    predictions = model.predict(*inputs)
    for loss in model.loss(predictions, *inputs[1:]).values():
        tf.losses.add_loss(loss)


def add_returned_loss(loss: Any) -> None:
    """Adds a loss to `tf.GraphKeys.LOSSES`, unless it is None or there already."""
    if loss is not None and not any(loss is added for added in tf.losses.get_losses()):
        tf.losses.add_loss(loss)


def _preprocessed(model: Any, images: Any) -> list[Any]:
    """Returns the batch of images and, if the model returns them, the true shapes."""
    parts = [model.preprocess(image) for image in images]
    if not isinstance(parts[0], tuple):
        return [tf.concat(parts, 0)]
    return [tf.concat(tensors, 0) for tensors in zip(*parts, strict=True)]
