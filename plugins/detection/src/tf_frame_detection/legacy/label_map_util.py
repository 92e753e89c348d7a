"""Reads label maps, the files of class names of the Object Detection API.

    from tf_frame_detection.legacy import label_map_util  # was: object_detection.utils

    label_map_util.get_label_map_dict("labels.pbtxt")  # {"cat": 1, "dog": 2}

A file has `item { id: 1 name: 'cat' }` for each class, in the text format of protocol buffers.
Where functions take a label map, it is the path of such a file or a message with a list `item`,
from `load_labelmap` or of the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_detection.inputs.label_map import parse_label_map

_BACKGROUND = "background"
_FIRST_ID = 1
# Of LVIS, by the number of the message: none, frequent, common, rare.
_FREQUENCIES = ("", "f", "c", "r")


def load_labelmap(path: str) -> Any:
    """Reads a label map; returns its message.

    Raises:
      DataError: the file cannot be read, or has no item.
      ValueError: a number is negative, or is 0 for a class other than `background`.
    """
    try:
        with tf.io.gfile.GFile(path) as file:
            text = file.read()
    except (tf.errors.OpError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the label map {short(path)}: {error}") from error
    if "item" not in text:
        raise DataError(f"the label map {short(path)} has no item {{ id: 1 name: 'cat' }}")
    label_map = parse_label_map(text, str(path))
    _check(label_map)
    return label_map


def get_label_map_dict(
    label_map_path_or_proto: Any,
    use_display_name: bool = False,
    fill_in_gaps_and_background: bool = False,
) -> dict[str, int]:
    """Returns class name -> number, in the order of the label map.

    Args:
      label_map_path_or_proto: see above.
      use_display_name: whether to take `display_name`; it replaces a name that is missing, too.
      fill_in_gaps_and_background: add `background`, with number 0, and numbers below the highest
        that are missing, each with its digits as its name.

    Raises:
      DataError, ValueError: see `load_labelmap`.
    """
    label_map = _load(label_map_path_or_proto)
    numbers = {
        item.display_name if use_display_name else item.name or item.display_name: item.id
        for item in label_map.item
    }
    if fill_in_gaps_and_background:
        present = set(numbers.values())
        missing = [number for number in range(1, max(present)) if number not in present]
        numbers.update({} if 0 in present else {_BACKGROUND: 0})
        numbers.update({str(number): number for number in missing})
    return numbers


def get_keypoint_label_map_dict(label_map_path_or_proto: Any) -> dict[str, int]:
    """Returns keypoint name -> its number, of all classes together.

    Raises:
      DataError: see `load_labelmap`.
      ValueError: a name or a number occurs twice.
    """
    numbers: dict[str, int] = {}
    for item in _load(label_map_path_or_proto).item:
        for keypoint in item.keypoints:
            if keypoint.label in numbers:
                raise ValueError(f"Duplicated keypoint label: {keypoint.label}")
            if keypoint.id in numbers.values():
                raise ValueError(f"Duplicated keypoint ID: {keypoint.id}")
            numbers[keypoint.label] = keypoint.id
    return numbers


def get_max_label_map_index(label_map: Any) -> int:
    """Returns the highest number of a class in the message of a label map."""
    return max(int(item.id) for item in label_map.item)


def get_label_map_hierarchy_lut(
    label_map_path_or_proto: Any, include_identity: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Returns two tables of zeros and ones, `[classes, classes]`: ancestors and descendants.

    Args:
      label_map_path_or_proto: see above.
      include_identity: whether each class is its own ancestor and descendant.

    Raises:
      DataError, ValueError: see `load_labelmap`.
    """
    label_map = _load(label_map_path_or_proto)
    count = get_max_label_map_index(label_map)
    tables = []
    for field in ("ancestor_ids", "descendant_ids"):
        table = np.zeros([count, count])
        for item in label_map.item:
            for relative in getattr(item, field):
                table[item.id - _FIRST_ID, relative - _FIRST_ID] = 1.0
        tables.append(table + np.eye(count) if include_identity else table)
    return tables[0], tables[1]


def convert_label_map_to_categories(
    label_map: Any, max_num_classes: int, use_display_name: bool = True
) -> list[dict[str, Any]]:
    """Returns a dictionary for each class, as evaluations take them.

    Args:
      label_map: the message; None: classes `category_1` to `category_N`.
      max_num_classes: classes with higher numbers are left out.
      use_display_name: whether to take `display_name` where a class has one.

    Returns:
      `id`, `name`, and where a class has them `keypoints` (name -> number), `frequency`
      (`f`, `c` or `r`) and `instance_count`. Of several classes with one number only the first.

    Raises:
      ValueError: a class has two keypoints of one number.
    """
    if not label_map:
        numbers = range(_FIRST_ID, _FIRST_ID + max_num_classes)
        return [{"id": number, "name": f"category_{number}"} for number in numbers]
    categories: dict[int, dict[str, Any]] = {}
    for item in label_map.item:
        if 0 < item.id <= max_num_classes and item.id not in categories:
            categories[item.id] = _category(item, use_display_name)
    return list(categories.values())


def create_categories_from_labelmap(
    label_map_path: str, use_display_name: bool = True
) -> list[dict[str, Any]]:
    """Returns a dictionary for each class of a file; see `convert_label_map_to_categories`."""
    label_map = load_labelmap(label_map_path)
    last = get_max_label_map_index(label_map)
    return convert_label_map_to_categories(label_map, last, use_display_name)


def create_category_index(categories: Iterable[Mapping[str, Any]]) -> dict[int, Any]:
    """Returns number of a class -> its dictionary."""
    return {category["id"]: category for category in categories}


def create_category_index_from_labelmap(
    label_map_path: str, use_display_name: bool = True
) -> dict[int, Any]:
    """Returns number of a class in a file -> its dictionary."""
    return create_category_index(create_categories_from_labelmap(label_map_path, use_display_name))


def create_class_agnostic_category_index() -> dict[int, dict[str, Any]]:
    """Returns the index of the only class `object`."""
    return create_category_index([{"id": _FIRST_ID, "name": "object"}])


def _load(path_or_message: Any) -> Any:
    if isinstance(path_or_message, str):
        return load_labelmap(path_or_message)
    _check(path_or_message)
    return path_or_message


def _check(label_map: Any) -> None:
    for item in label_map.item:
        if item.id < 0:
            raise ValueError("Label map ids should be >= 0.")
        if item.id == 0 and _BACKGROUND not in (item.name, item.display_name):
            raise ValueError("Label map id 0 is reserved for the background label")


def _field(item: Any, name: str) -> Any:
    """Returns a field of a message; None if it is not set, or the message has no such field."""
    has_field = name in item.DESCRIPTOR.fields_by_name and item.HasField(name)
    return getattr(item, name) if has_field else None


def _category(item: Any, use_display_name: bool) -> dict[str, Any]:
    shown = use_display_name and item.HasField("display_name")
    category = {"id": item.id, "name": item.display_name if shown else item.name}
    if frequency := _field(item, "frequency"):
        category["frequency"] = _FREQUENCIES[frequency]
    if (count := _field(item, "instance_count")) is not None:
        category["instance_count"] = count
    # Messages of the API's versions before 2020 have none.
    points = getattr(item, "keypoints", ())
    keypoints = {keypoint.label: keypoint.id for keypoint in points}
    numbers = [keypoint.id for keypoint in points]
    if len(set(numbers)) < len(numbers):
        raise ValueError(
            "Duplicate keypoint ids are not allowed. "
            f"Found {max(numbers, key=numbers.count)} more than once"
        )
    if keypoints:
        category["keypoints"] = keypoints
    return category
