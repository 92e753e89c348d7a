"""Applies a change of `tf_frame_detection.augmentation` to the tensors of an old trainer's example.

The changes are those that the inputs' option `data_augmentation` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.augmentation import parse as named
from tf_frame_detection.augmentation.labelled import Labelled, size_of
from tf_frame_detection.legacy.standard_fields import InputDataFields as Fields

# Tensors with a row for each object, which stay as they are where the object is kept.
_OF_OBJECTS = (
    Fields.groundtruth_classes,
    Fields.groundtruth_weights,
    Fields.groundtruth_is_crowd,
    Fields.groundtruth_difficult,
    Fields.groundtruth_group_of,
)
# Those that would have to move with the image, and whose change is not known.
_NOT_MOVED = (
    Fields.groundtruth_rboxes,
    Fields.groundtruth_area,
    Fields.groundtruth_instance_masks,
    Fields.groundtruth_keypoints,
)


def changed(tensors: Mapping[str, Any], name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tensors that a change by name replaces.

    Args:
      tensors: `image` `[height, width, 3]`, 0 to 255; `groundtruth_boxes` `[count, 4]`, shares of
        height and width, and others of the objects.
      name: name of the change.
      options: its options.

    Raises:
      ConfigError: an unknown name or option, a value that is no number, or an example whose
        other tensors would have to move as well.
    """
    words = [name, *(f"{key}={value}" for key, value in options.items())]
    parsed = named.parse([":".join(words)], "data_augmentation_options")
    moving = [each for each in _NOT_MOVED if each in tensors]
    if moving:
        raise ConfigError(
            f"{name} changes image and boxes, but the example has {', '.join(moving)}; give a "
            "function of your own in its place"
        )
    image = tf.cast(tensors[Fields.image], tf.float32)
    boxes = tensors.get(Fields.groundtruth_boxes, tf.zeros([0, 4]))
    # The numbers of the objects stand for the classes, to tell which are kept.
    before = Labelled(image, boxes, tf.range(tf.shape(boxes)[0]), None, None)
    before = before._replace(boxes=boxes * _sides(before))
    seed = tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)
    after = named.apply(before, parsed, seed)
    of_objects = [each for each in _OF_OBJECTS if each in tensors]
    found = {each: tf.gather(tensors[each], after.classes) for each in of_objects}
    if Fields.groundtruth_boxes in tensors:
        found[Fields.groundtruth_boxes] = after.boxes / _sides(after)
    return {**found, Fields.image: after.image}


def _sides(labelled: Labelled) -> Any:
    return tf.cast(tf.tile(size_of(labelled), [2]), tf.float32)
