"""Reads label maps, the files of class names of the Object Detection API.

    from tf_frame_detection.legacy import label_map_util  # was: object_detection.utils

    label_map_util.get_label_map_dict("labels.pbtxt")  # {"cat": 1, "dog": 2}

A file has `item { id: 1 name: 'cat' }` for each class, in the text format of protocol buffers.
"""

from __future__ import annotations

import re

import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError

_ITEM = re.compile(r"\bitem\s*:?\s*\{(.*?)\}", re.DOTALL)
_ID = re.compile(r"\bid\s*:\s*(-?\d+)")
_NAME = re.compile(r"\bname\s*:\s*(\"[^\"]*\"|'[^']*')")


def get_label_map_dict(label_map_path: str) -> dict[str, int]:
    """Returns class name -> number, in the order of the file.

    Raises:
      DataError: the file cannot be read, has no item, or one without name or id.
      ValueError: a number is negative, or 0 and not that of `background`.
    """
    try:
        with tf.io.gfile.GFile(label_map_path) as file:
            items = _ITEM.findall(file.read())
    except (tf.errors.OpError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the label map {label_map_path}: {error}") from error
    if not items:
        raise DataError(f"the label map {label_map_path} has no item {{ id: 1 name: 'cat' }}")
    found = dict(_entry(item, label_map_path) for item in items)
    if min(found.values()) < 0:
        raise ValueError(f"Label map ids should be >= 0; {label_map_path} has a negative one")
    if any(number == 0 and name != "background" for name, number in found.items()):
        raise ValueError(f"Label map id 0 is reserved for the background label in {label_map_path}")
    return found


def _entry(item: str, path: str) -> tuple[str, int]:
    name, number = _NAME.search(item), _ID.search(item)
    if name is None or number is None:
        raise DataError(f"the label map {path} has an item without name or id: {item.strip()!r}")
    return name[1][1:-1], int(number[1])
