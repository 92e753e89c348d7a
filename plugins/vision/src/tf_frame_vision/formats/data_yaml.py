"""Reads `data.yaml` of YOLO; all values are texts, so that a class `no` or `1e3` keeps its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import normal_name, parse_integer, read_text
from tf_frame.yaml_text import Bounded, YamlError, parse_yaml
from tf_frame_vision.formats.yolo_labels import LARGEST_CLASS
from tf_frame_vision.reading.class_names import find_repeated


class _Texts(Bounded, yaml.BaseLoader):
    """Refuses a key that a mapping has twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        scalars = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in scalars:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {brief(key.value)} occurs twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """Returns the mapping in a file: its values are texts, lists and mappings.

    Raises:
      DataError: the file cannot be read, is no YAML, or has a key twice.
    """
    try:
        content = parse_yaml(read_text(path), _Texts)
    except YamlError as error:
        raise DataError(f"{short(path)} is no YAML: {error}") from None
    if not isinstance(content, dict):
        raise DataError(
            f"{short(path)} is no data set of YOLO: it has no lines such as names: [cat, dog]"
        )
    return content


def parse_names(path: Path, content: Any) -> list[str]:
    """Returns the classes by `names` and `nc` of data.yaml.

    Raises:
      DataError: they contradict each other, or are no classes.
    """
    names, count = content.get("names"), content.get("nc")
    try:
        total = parse_integer(count) if count else None
        if total is not None and not 0 < total <= LARGEST_CLASS:
            raise ValueError(f"{total} classes are none, or too many")
        if not names:
            return [f"class_{number}" for number in range(total or 0)]
        if isinstance(names, dict):
            numbered = {parse_integer(key): name for key, name in names.items()}
            names = [numbered[number] for number in range(len(names))]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("it is no list of texts")
    except KeyError as error:
        raise DataError(
            f"{short(path)}, names: there is no class {error}; they count from 0"
        ) from None
    except ValueError as error:
        raise DataError(f"{short(path)}, names and nc: {error}") from None
    if total not in (None, len(names)):
        raise DataError(
            f"{short(path)} has {len(names)} names, but nc is {total}; correct one of them"
        )
    twice = find_repeated(map(normal_name, names))
    if twice is not None:
        raise DataError(f"{short(path)} names the class {brief(twice)} twice; rename one")
    return names


def count_keypoints(path: Path | None, content: Any) -> int:
    """Returns the count of numbers of a pose after each box: `kpt_shape: [points, 2 or 3]`.

    Raises:
      DataError: it has another form.
    """
    shape = content.get("kpt_shape")
    if not shape:
        return 0
    try:
        points, numbers = map(parse_integer, shape)
        return points * numbers
    except (TypeError, ValueError):
        raise DataError(f"{short(path)}, kpt_shape: {shape} are no two whole numbers") from None
