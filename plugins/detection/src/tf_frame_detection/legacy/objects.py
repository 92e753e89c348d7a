"""Changes of an example's image that boxes, masks, keypoints and all tensors of objects follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.text import listed
from tf_frame_detection.augmentation.labelled import Labelled, height_and_width
from tf_frame_detection.legacy.standard_fields import InputDataFields

# Tensors with a row for each object, which change only where an object is removed.
_OBJECT_FIELDS = (
    InputDataFields.groundtruth_classes,
    InputDataFields.groundtruth_weights,
    InputDataFields.groundtruth_area,
    InputDataFields.groundtruth_confidences,
    InputDataFields.groundtruth_is_crowd,
    InputDataFields.groundtruth_difficult,
    InputDataFields.groundtruth_group_of,
    InputDataFields.multiclass_scores,
)
# Tensors that would have to move with the image, as these changes cannot do.
_IMMOVABLE_FIELDS = (
    InputDataFields.groundtruth_rboxes,
    InputDataFields.groundtruth_keypoint_visibilities,
    InputDataFields.groundtruth_dp_surface_coords,
)
_BOXES = InputDataFields.groundtruth_boxes
_MASKS = InputDataFields.groundtruth_instance_masks
_KEYPOINTS = InputDataFields.groundtruth_keypoints


def change_objects(
    tensors: Mapping[str, Any], change: Callable[[Labelled, Any], Labelled], name: str
) -> dict[str, Any]:
    """Applies a change of image and objects; returns the tensors that it replaces.

    Args:
      tensors: `image` `[height, width, channels]`, 0 to 255; `groundtruth_boxes` `[count, 4]`
        and `groundtruth_keypoints` `[count, keypoints, 2]`, shares of height and width;
        `groundtruth_instance_masks` `[count, height, width]`; and other tensors of the objects.
      change: a function of the example, with indices of the objects as their classes, and a seed.
      name: name of the change, for errors.

    Raises:
      ConfigError: an example with tensors that cannot move with the image.
    """
    immovable = [field for field in _IMMOVABLE_FIELDS if field in tensors]
    if immovable:
        raise ConfigError(
            f"{name} changes image and boxes, but the example has {listed(immovable)}; give a "
            "function of your own instead"
        )
    seed = tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)
    after = change(_labelled(tensors), seed)
    return _replaced(tensors, after)


def _labelled(tensors: Mapping[str, Any]) -> Labelled:
    image = tf.cast(tensors[InputDataFields.image], tf.float32)
    boxes = tensors.get(_BOXES, tf.zeros([0, 4]))
    # The indices of the objects replace their classes, to tell which objects are left.
    labelled = Labelled(image, boxes, tf.range(tf.shape(boxes)[0]), None, None)
    sides = _sides(labelled)
    points, masks = tensors.get(_KEYPOINTS), tensors.get(_MASKS)
    return labelled._replace(
        boxes=boxes * tf.tile(sides, [2]),
        corners=None if points is None else points * sides,
        # Integers keep their values when an image is resized.
        masks=None if masks is None else tf.cast(tf.transpose(masks, [1, 2, 0]), tf.int32),
    )


def _replaced(tensors: Mapping[str, Any], after: Labelled) -> dict[str, Any]:
    changed = {
        field: tf.gather(tensors[field], after.classes)
        for field in _OBJECT_FIELDS
        if field in tensors
    }
    sides = _sides(after)
    if _BOXES in tensors:
        changed[_BOXES] = after.boxes / tf.tile(sides, [2])
    if _KEYPOINTS in tensors:
        points = after.corners / sides
        inside = tf.reduce_all((points >= 0.0) & (points <= 1.0), axis=2, keepdims=True)
        missing = tf.fill(tf.shape(points), float("nan"))
        changed[_KEYPOINTS] = tf.where(tf.tile(inside, [1, 1, 2]), points, missing)
    if _MASKS in tensors:
        masks = tf.transpose(after.masks, [2, 0, 1])
        changed[_MASKS] = tf.cast(masks, tensors[_MASKS].dtype)
    return {**changed, InputDataFields.image: after.image}


def _sides(labelled: Labelled) -> Any:
    return tf.cast(height_and_width(labelled), tf.float32)
