"""Reads label maps, the files of class names of the Object Detection API.

    from tf_frame_detection.legacy import label_map_util  # was: object_detection.utils

    label_map_util.get_label_map_dict("labels.pbtxt")  # {"cat": 1, "dog": 2}

A file has `item { id: 1 name: 'cat' }` for each class, in the text format of protocol buffers.
"""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame_detection.inputs.label_map import parse_items


def get_label_map_dict(label_map_path: str) -> dict[str, int]:
    """Returns class name -> number, in the order of the file.

    Raises:
      DataError: the file cannot be read, has no item, one without name or id, or an id twice.
      ValueError: a number is negative, or is 0 for a class other than `background`.
    """
    try:
        with tf.io.gfile.GFile(label_map_path) as file:
            items = parse_items(file.read(), label_map_path)
    except (tf.errors.OpError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the label map {label_map_path}: {error}") from error
    if not items:
        raise DataError(f"the label map {label_map_path} has no item {{ id: 1 name: 'cat' }}")
    if min(items) < 0:
        raise ValueError(f"Label map ids should be >= 0; {label_map_path} has a negative one")
    if items.get(0, "background") != "background":
        raise ValueError(f"Label map id 0 is reserved for the background label in {label_map_path}")
    return {name: number for number, name in items.items()}
