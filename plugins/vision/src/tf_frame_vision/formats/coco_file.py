"""Reads a JSON file of COCO's form into columns, which are kept for later starts.

Format: https://cocodataset.org/#format-data. Programs write ids and sizes as text or as floats as
well. Two records of one image file are one image with the objects of both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.json_lists import read_json_lists
from tf_frame.text import listed, short
from tf_frame_vision.formats.coco_records import NO_NUMBER, Category, Parser, Records
from tf_frame_vision.reading.array_cache import Content, cached
from tf_frame_vision.reading.damage import Damage

_VERSION = 2


@dataclasses.dataclass(frozen=True, eq=False)
class CocoContent:
    """Content of a file.

    Attributes:
      path: the file.
      categories: in the order of the file.
      names: `file_name` of each image; empty: it has none.
      image_ids: `[images]` int64, or None if a program wrote texts.
      sizes: `[images, 2]` int32, height and width; 0: not said.
      ends: `[images + 1]` int64: the objects of image k are those from `ends[k]` to `ends[k + 1]`.
      boxes: `[objects, 4]` float32, upper, left, lower, right.
      category_ids: `[objects]` int64.
      crowd: `[objects]` bool.
      records: `[objects]` ids of the annotations.
      places: `[objects, 2]` int64, begin and end of the data of each object; empty without data.
      data: `[bytes]` uint8, mapped from a file.
      problems: number of an image -> a record that cannot be used, and why.
      damaged: lines about records that belong to no image.
      merged: number of images that have several records.
    """

    path: Path
    categories: Sequence[Category]
    names: Sequence[str]
    image_ids: Any
    sizes: Any
    ends: Any
    boxes: Any
    category_ids: Any
    crowd: Any
    records: Any
    places: Any
    data: Any
    problems: Mapping[int, str]
    damaged: Sequence[Damage]
    merged: int


def read_coco_file(path: Path, parse: Parser, *, kind: str) -> CocoContent:
    """Reads a file, or its cache.

    Args:
      path: the file.
      parse: reads the fields of an object that only some inputs need.
      kind: name of `parse`, in the name of the cache.

    Raises:
      DataError: it is no JSON, or not of this form.
    """
    content = cached(path, lambda path: _read(path, parse), kind=kind, version=_VERSION)
    arrays, facts = dict(content.arrays), content.facts
    if facts["odd_ids"]:
        numbers, is_odd = arrays["records"], arrays["records"] <= NO_NUMBER
        records = arrays["records"] = numbers.astype(object)
        records[is_odd] = [facts["odd_ids"][NO_NUMBER - code] for code in numbers[is_odd].tolist()]
    if not facts["has_numbers"]:
        arrays["image_ids"] = None
    return CocoContent(
        path=path,
        categories=[Category(*category) for category in facts["categories"]],
        names=facts["names"],
        problems=dict(facts["problems"]),
        damaged=[Damage(place, reason) for place, reason in facts["damaged"]],
        merged=facts["merged"],
        **arrays,
    )


def _read(path: Path, parse: Parser) -> Content:
    records = Records(path, parse)
    takers: dict[str, Callable[[int, Any], None]] = {
        "images": records.take_image,
        "annotations": records.take_annotation,
        "categories": records.take_category,
    }
    missing = dict(takers)
    for name, elements in read_json_lists(path):
        if name in takers:
            take = missing.pop(name)
            for place, element in enumerate(elements):
                take(place, element)
    if missing:
        raise DataError(f"{short(path)} has no list {listed(missing)}; is it a file of instances?")
    return records.content()
