"""Reads a JSON file of instances in COCO's form into columns, which are kept for later starts.

Format: https://cocodataset.org/#format-data, object detection; of an annotation `image_id`,
`category_id`, `bbox` (left, upper, width, height) and `iscrowd` count. Programs write ids and sizes
as text or as floats as well. Two records of one image file are one image with the objects of both.
"""

from __future__ import annotations

import dataclasses
import math
import posixpath
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.json_lists import read_json_lists
from tf_frame.text_file import parse_integer
from tf_frame_detection.inputs.annotations import RecordError, parse_numbers
from tf_frame_vision.reading.array_cache import Content, cached
from tf_frame_vision.reading.damage import Damage

_VERSION = 1
_LISTS = ("images", "annotations", "categories")
_LARGEST_INT32 = 2**31 - 1
# Beyond it a number does not fit into float32; no image is as large.
_LARGEST_EDGE = 1e30
# Category of an annotation that the file does not have.
_NO_CATEGORY = -(2**63)


@dataclasses.dataclass(frozen=True)
class Category:
    """A category: its id, its name, and the name of the category above it, or an empty text."""

    id: int
    name: str
    above: str


@dataclasses.dataclass(frozen=True)
class CocoContent:
    """Content of a file.

    Attributes:
      path: the file.
      categories: in the order of the file.
      names: `file_name` of each image.
      image_ids: `[images]` int64, or None if a program wrote texts.
      sizes: `[images, 2]` int32, height and width; 0: not said.
      ends: `[images + 1]` int64: the objects of image k are those from `ends[k]` to `ends[k + 1]`.
      boxes: `[objects, 4]` float32, upper, left, lower, right.
      category_ids: `[objects]` int64.
      crowd: `[objects]` bool.
      records: `[objects]` ids of the annotations.
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
    problems: Mapping[int, str]
    damaged: Sequence[Damage]
    merged: int


def read_coco_file(path: Path) -> CocoContent:
    """Reads a file, or its cache.

    Raises:
      DataError: it is no JSON, or not of this form.
    """
    content = cached(path, _read, kind="coco", version=_VERSION)
    arrays, facts = dict(content.arrays), content.facts
    odd_records = facts["odd_records"]
    if odd_records:
        arrays["records"] = arrays["records"].astype(object)
        arrays["records"][[place for place, _ in odd_records]] = [text for _, text in odd_records]
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


def _read(path: Path) -> Content:
    reader = _Reader(path)
    takers = {
        "images": reader.take_image,
        "annotations": reader.take_annotation,
        "categories": reader.take_category,
    }
    present = set()
    for name, elements in read_json_lists(path):
        if name in takers:
            present.add(name)
            take = takers[name]
            for place, element in enumerate(elements):
                take(place, element)
    missing = [name for name in _LISTS if name not in present]
    if missing:
        raise DataError(f"{path} has no list {', '.join(missing)}; is it a file of instances?")
    return reader.content()


class _Reader:
    """Collects the records of a file, in whatever order the lists stand.

    Args:
      path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._categories: list[Category] = []
        # Number of an image by its id; annotations may come first.
        self._numbers: dict[int | str | None, int] = {}
        # Of each image: its number, id, name and size.
        self._images: list[tuple[int, int | str, str, int, int]] = []
        self._problems: dict[int, tuple[str, str]] = {}
        self._damaged: list[tuple[str, str]] = []
        self._annotation_images, self._records = array("i"), array("q")
        self._category_ids, self._boxes, self._crowd = array("q"), array("f"), bytearray()
        self._odd_records: dict[int, str] = {}

    def take_category(self, place: int, record: Any) -> None:
        """Takes a category; a wrong one makes every class doubtful.

        Raises:
          DataError: it has no id or no name.
        """
        try:
            id_, name, above = parse_integer(record["id"]), record["name"], record
            self._categories.append(Category(id_, str(name), str(above.get("supercategory") or "")))
        except (KeyError, TypeError, ValueError):
            raise DataError(
                f"{self._path}: category {place} of the list has no id, which is a number, or no "
                "name"
            ) from None

    def take_image(self, place: int, record: Any) -> None:
        """Takes the record of an image."""
        id_ = _parse_id(record)
        if id_ is None:
            self._damaged.append((f"{self._path}, image {place} of the list", "it has no id"))
            return
        name = record.get("file_name")
        if not isinstance(name, str) or not name.strip():
            # Its annotations have no image then.
            self._numbers.setdefault(id_, len(self._numbers))
            self._problems.setdefault(self._numbers[id_], (f"image {id_}", "it has no file_name"))
            self._images.append((self._numbers[id_], id_, "", 0, 0))
            return
        number = self._numbers.setdefault(id_, len(self._numbers))
        self._images.append((number, id_, name, *_parse_size(record)))

    def take_annotation(self, place: int, record: Any) -> None:
        """Takes an object; one that cannot be used is a problem of its image."""
        id_ = _parse_id(record)
        where = f"annotation {place} of the list" if id_ is None else f"annotation {id_}"
        image = None
        try:
            if id_ is None:
                raise RecordError("it has no id")
            image = _parse_id(record, "image_id")
            missing = {"image_id", "category_id", "bbox"} - record.keys()
            if missing:
                raise RecordError(f"it has no {', '.join(sorted(missing))}")
            if image is None:
                raise RecordError(f"there is no image {record['image_id']!r}")
            box, crowd = _parse_box(record["bbox"]), _parse_crowd(record.get("iscrowd"))
            category = _parse_category(record["category_id"])
        except RecordError as error:
            if image is None and isinstance(record, dict):
                image = _parse_id(record, "image_id")
            number = self._numbers.setdefault(image, len(self._numbers))
            self._problems.setdefault(number, (where, str(error)))
            return
        if not (isinstance(id_, int) and -(2**63) <= id_ < 2**63):
            self._odd_records[len(self._records)] = str(id_)
            id_ = 0
        self._records.append(id_)
        self._annotation_images.append(self._numbers.setdefault(image, len(self._numbers)))
        self._category_ids.append(category)
        self._boxes.extend(box)
        self._crowd.append(crowd)

    def content(self) -> Content:
        """Returns the columns, the objects in the order of their images."""
        names, ids, sizes, places, merged = self._merge_images()
        records = np.frombuffer(self._records, np.int64)
        images = np.frombuffer(self._annotation_images, np.int32)
        category_ids = np.frombuffer(self._category_ids, np.int64)
        self._find_wrong_annotations(images, records, category_ids)
        problems = self._problems_of_images(places)
        rows = places[images]
        is_known = rows >= 0
        order = np.argsort(rows, kind="stable")[np.count_nonzero(~is_known) :]
        counts = np.bincount(rows[is_known], minlength=len(names))
        position = {int(old): new for new, old in enumerate(order)} if self._odd_records else {}
        numbers = [id_ for id_ in ids if isinstance(id_, int) and -(2**63) <= id_ < 2**63]
        has_numbers = len(numbers) == len(ids)
        return Content(
            {
                "image_ids": np.array(numbers if has_numbers else [], np.int64),
                "sizes": np.array(sizes, np.int32).reshape(-1, 2),
                "ends": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                "boxes": np.frombuffer(self._boxes, np.float32).reshape(-1, 4)[order],
                "category_ids": category_ids[order],
                "crowd": np.frombuffer(self._crowd, bool)[order],
                "records": records[order],
            },
            {
                "categories": [dataclasses.astuple(category) for category in self._categories],
                "names": names,
                "has_numbers": has_numbers,
                "odd_records": [
                    (position[place], text)
                    for place, text in self._odd_records.items()
                    if place in position
                ],
                "problems": problems,
                "damaged": self._damaged,
                "merged": merged,
            },
        )

    def _merge_images(self) -> tuple[list[str], list[int | str], list[int], Any, int]:
        """Returns names, ids and sizes, the place of each number in these, and how many merged."""
        names: list[str] = []
        ids: list[int | str] = []
        sizes: list[int] = []
        # Place -1: there is no such image; the last one is that of annotations without an image.
        places = np.full(len(self._numbers) + 1, -1, np.int64)
        by_path: dict[str, int] = {}
        merged = set()
        for number, id_, name, height, width in self._images:
            path = posixpath.normpath(name.replace("\\", "/")) if name else f"\0{number}"
            place = by_path.setdefault(path, len(names))
            if places[number] >= 0:
                self._problems.setdefault(
                    number, (f"image {id_}", f"the file has the image id {id_} twice")
                )
                if place == len(names):
                    # Nobody knows the image of the annotations with this id.
                    del by_path[path]
                    self._damaged.append(
                        (f"{self._path}, image {id_}", f"the file has the image id {id_} twice")
                    )
                continue
            places[number] = place
            if isinstance(id_, int) and not -(2**63) <= id_ < 2**63:
                self._problems.setdefault(
                    number, (f"image {id_}", "its id does not fit into 64 bits")
                )
            if place == len(names):
                names.append(name)
                ids.append(id_)
                sizes += (height, width)
                continue
            merged.add(place)
            known = sizes[2 * place : 2 * place + 2]
            if known == [0, 0]:
                sizes[2 * place : 2 * place + 2] = [height, width]
            elif [height, width] not in ([0, 0], known):
                text = f"another record says that {name} has another size"
                self._problems.setdefault(number, (f"image {id_}", text))
        return names, ids, sizes, places, len(merged)

    def _find_wrong_annotations(self, images: Any, records: Any, category_ids: Any) -> None:
        """Finds annotations whose id occurs twice, or whose category does not exist."""
        known = [category.id for category in self._categories if abs(category.id) < 2**63]
        for place in np.flatnonzero(~np.isin(category_ids, known)).tolist():
            category = "" if category_ids[place] == _NO_CATEGORY else f" {category_ids[place]}"
            text = f"its category{category} is none of the file's"
            self._note(images[place], self._record(records, place), text)
        has_number = np.ones(len(records), bool)
        has_number[list(self._odd_records)] = False
        places = np.flatnonzero(has_number)
        order = places[np.argsort(records[places], kind="stable")]
        again = order[1:][records[order[1:]] == records[order[:-1]]].tolist()
        seen: set[str] = set()
        for place, text in self._odd_records.items():
            again += [place] if text in seen else []
            seen.add(text)
        for place in again:
            id_ = self._record(records, place)
            self._note(images[place], id_, f"the file has the annotation id {id_} twice")

    def _record(self, records: Any, place: int) -> str:
        return self._odd_records.get(place, str(records[place]))

    def _note(self, number: int, id_: str, text: str) -> None:
        self._problems.setdefault(int(number), (f"annotation {id_}", text))

    def _problems_of_images(self, places: Any) -> list[tuple[int, str]]:
        """Returns the problems of images that exist; the others become lines."""
        # An annotation that is right but has no image.
        numbers = np.frombuffer(self._annotation_images, np.int32)
        absent, first = np.unique(numbers[places[numbers] < 0], return_index=True)
        first = np.flatnonzero(places[numbers] < 0)[first]
        for number, place in zip(absent.tolist(), first.tolist(), strict=True):
            if number not in self._problems:
                record = self._record(self._records, place)
                self._problems[number] = (f"annotation {record}", "")
        ids = {number: id_ for id_, number in self._numbers.items()}
        problems: dict[int, str] = {}
        for number, (where, text) in self._problems.items():
            if places[number] >= 0:
                problems.setdefault(int(places[number]), f"{where}: {text}")
            else:
                absent_image = text or f"there is no image {ids[number]!r}"
                self._damaged.append((f"{self._path}, {where}", absent_image))
        return list(problems.items())


def _parse_id(record: Any, key: str = "id") -> int | str | None:
    """Returns the id in a record; None if it has none that can be one."""
    if not isinstance(record, dict):
        return None
    value = record.get(key)
    if type(value) is int:
        return value
    try:
        return parse_integer(value)
    except ValueError:
        return value if isinstance(value, str) else None


def _parse_size(record: Mapping[str, Any]) -> tuple[int, int]:
    """Returns height and width; 0, 0 if the record does not say both."""
    try:
        height, width = (parse_integer(record.get(key)) for key in ("height", "width"))
    except ValueError:
        return 0, 0
    if height <= 0 or width <= 0:
        return 0, 0
    return min(height, _LARGEST_INT32), min(width, _LARGEST_INT32)


def _parse_box(bbox: Any) -> tuple[float, float, float, float]:
    """Returns upper, left, lower and right edge."""
    if type(bbox) is list and len(bbox) == 4:
        left, upper, width, height = bbox
        try:
            if math.isfinite(left + upper + width + height):
                return upper, left, upper + height, left + width
        except (TypeError, OverflowError):
            pass  # Numbers as text, or no numbers.
    left, upper, width, height = (
        min(max(value, -_LARGEST_EDGE), _LARGEST_EDGE)
        for value in parse_numbers(bbox, 4, "its bbox")
    )
    return upper, left, upper + height, left + width


def _parse_crowd(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    try:
        return parse_integer(value) != 0
    except ValueError:
        raise RecordError(f"its iscrowd {value!r} is neither 0 nor 1") from None


def _parse_category(value: Any) -> int:
    try:
        id_ = parse_integer(value)
    except ValueError:
        raise RecordError(f"its category {value!r} is none of the file's") from None
    return id_ if abs(id_) < 2**63 else _NO_CATEGORY
