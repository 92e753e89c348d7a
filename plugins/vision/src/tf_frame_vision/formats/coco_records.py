"""Collects the records of a JSON file of COCO's form, in whatever order the lists stand."""

from __future__ import annotations

import dataclasses
import json
import posixpath
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import parse_integer
from tf_frame_vision.formats.record_fields import (
    LARGEST_ID,
    RecordError,
    Size,
    parse_category,
    parse_crowd,
    parse_id,
    parse_size,
)
from tf_frame_vision.reading.array_cache import Content
from tf_frame_vision.reading.spool import Spool

# Ids that are texts are numbered from here downwards.
NO_NUMBER = -LARGEST_ID
# From an annotation to upper, left, lower and right edge; data to keep; and the size of the picture
# that the object is drawn on, (0, 0) if it says none. Raises a RecordError.
Parser = Callable[[Mapping[str, Any]], tuple[tuple[float, float, float, float], bytes, Size]]


@dataclasses.dataclass(frozen=True)
class Category:
    """A category: its id, its name, and the name of the category above it, or an empty text."""

    id: int
    name: str
    above: str


class Records:
    """Columns of the records of a file.

    Args:
      path: the file.
      parse: reads the fields of an object that only some inputs need.
    """

    def __init__(self, path: Path, parse: Parser) -> None:
        self._path, self._parse = path, parse
        self._categories: list[Category] = []
        # Number of an image by its id; annotations may come first.
        self._numbers: dict[int | str | None, int] = {}
        # Of each image: its number, id, name and size.
        self._images: list[tuple[int, int | str, str, Size]] = []
        # Number of an image -> record and reason; an empty reason: there is no such image.
        self._problems: dict[int, tuple[str, str]] = {}
        self._damaged: list[tuple[str, str]] = []
        self._odd_ids: dict[str, int] = {}
        # Of each annotation: number of its image, id, category, box, whether it is a crowd; and
        # size of its picture, and place of its data, of those that have any.
        self._of_image, self._ids, self._category_ids = array("i"), array("q"), array("q")
        self._boxes, self._crowd = array("f"), bytearray()
        self._sized, self._data = array("q"), Spool()

    def take_category(self, place: int, record: Any) -> None:
        """Takes a category; a wrong one makes every class doubtful.

        Raises:
          DataError: it has no id or no name.
        """
        try:
            id_, name = parse_integer(record["id"]), str(record["name"])
            if abs(id_) >= LARGEST_ID:
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise DataError(
                f"{short(self._path)}: category {place} of the list has no id, which is a "
                "number, or no name"
            ) from None
        self._categories.append(Category(id_, name, str(record.get("supercategory") or "")))

    def take_image(self, place: int, record: Any) -> None:
        """Takes the record of an image."""
        id_ = parse_id(record)
        if id_ is None:
            self._damaged.append((f"{self._path}, image {place} of the list", "it has no id"))
            return
        number = self._number(id_)
        name = record.get("file_name")
        if not isinstance(name, str) or not name.strip():
            name = ""
            self._problems.setdefault(number, (f"image {id_}", "it has no file_name"))
        self._images.append((number, id_, name, parse_size(record)))

    def take_annotation(self, place: int, record: Any) -> None:
        """Takes an object; one that cannot be used is a problem of its image."""
        id_, image = parse_id(record), parse_id(record, "image_id")
        number = self._number(image)
        try:
            if id_ is None:
                raise RecordError("it has no id")
            for key in ("image_id", "category_id"):
                if key not in record:
                    raise RecordError(f"it has no {key}")
            if image is None:
                raise RecordError(f"there is no image {brief(record['image_id'])}")
            box, data, size = self._parse(record)
            category = parse_category(record["category_id"])
            crowd = parse_crowd(record.get("iscrowd"))
        except RecordError as error:
            where = f"{place} of the list" if id_ is None else str(id_)
            self._problems.setdefault(number, (f"annotation {where}", str(error)))
            return
        if size != (0, 0):
            self._sized.extend((len(self._ids), *size))
        if data:
            self._data.keep(data)
        self._of_image.append(number)
        self._ids.append(id_ if isinstance(id_, int) else self._code(id_))
        self._category_ids.append(category)
        self._boxes.extend(box)
        self._crowd.append(crowd)

    def content(self) -> Content:
        """Returns the columns, the objects in the order of their images.

        Raises:
          DataError: there is no room for the temporary file.
        """
        of_image = np.frombuffer(self._of_image, np.int32)
        ids = np.frombuffer(self._ids, np.int64)
        category_ids = np.frombuffer(self._category_ids, np.int64)
        names, image_ids, sizes, places, merged = self._merge_images()
        self._compare_sizes(sizes, places, of_image)
        self._find_wrong_annotations(of_image, ids, category_ids)
        problems = self._problems_of_images(places, of_image)
        rows = places[of_image]
        order = np.argsort(rows, kind="stable")[np.count_nonzero(rows < 0) :]
        counts = np.bincount(rows[order], minlength=len(names))
        has_numbers = all(isinstance(id_, int) for id_ in image_ids)
        data_places = self._data.places()
        return Content(
            {
                "image_ids": np.array(image_ids if has_numbers else [], np.int64),
                "sizes": np.array(sizes, np.int32).reshape(-1, 2),
                "ends": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                "boxes": np.frombuffer(self._boxes, np.float32).reshape(-1, 4)[order],
                "category_ids": category_ids[order],
                "crowd": np.frombuffer(self._crowd, bool)[order],
                "records": ids[order],
                "places": data_places[order] if len(data_places) else data_places,
                "data": self._data.content(),
            },
            {
                "categories": [dataclasses.astuple(category) for category in self._categories],
                # The texts of the records lie between objects that go, and would keep their memory.
                "names": json.loads(json.dumps(names)),
                "has_numbers": has_numbers,
                "odd_ids": [*self._odd_ids],
                "problems": problems,
                "damaged": self._damaged,
                "merged": merged,
            },
        )

    def _number(self, id_: int | str | None) -> int:
        return self._numbers.setdefault(id_, len(self._numbers))

    def _code(self, text: str) -> int:
        return NO_NUMBER - self._odd_ids.setdefault(text, len(self._odd_ids))

    def _merge_images(self) -> tuple[list[str], list[int | str], list[Size], Any, int]:
        """Returns names, ids and sizes, the place of each number in these, and how many merged."""
        names: list[str] = []
        ids: list[int | str] = []
        sizes: list[Size] = []
        # Place -1: there is no such image.
        places = [-1] * len(self._numbers)
        by_path: dict[str, int] = {}
        merged = set()
        for number, id_, name, size in self._images:
            path = posixpath.normpath(name.replace("\\", "/")) if name else f"\0{number}"
            place = by_path.get(path)
            if places[number] >= 0:
                problem = (f"image {id_}", f"the file has the image id {id_} twice")
                self._problems.setdefault(number, problem)
                if place is None:
                    # Nobody knows the image of the annotations with this id.
                    self._damaged.append((f"{self._path}, {problem[0]}", problem[1]))
                continue
            if place is None:
                place = by_path[path] = len(names)
                names.append(name)
                ids.append(id_)
                sizes.append(size)
            else:
                merged.add(place)
                if _differ(size, sizes[place]):
                    text = f"another record says that {name} has another size"
                    self._problems.setdefault(number, (f"image {id_}", text))
                sizes[place] = max(size, sizes[place])
            places[number] = place
        return names, ids, sizes, np.array(places, np.int64), len(merged)

    def _compare_sizes(self, sizes: list[Size], places: Any, of_image: Any) -> None:
        """Compares the sizes of pictures with those of images that say none, or another one."""
        for number, *size in np.frombuffer(self._sized, np.int64).reshape(-1, 3).tolist():
            place = int(places[of_image[number]])
            if place >= 0 and _differ((size[0], size[1]), sizes[place]):
                text = f"it is drawn on {size[0]} x {size[1]} pixels, but its image has {{}} x {{}}"
                self._note(of_image[number], self._ids[number], text.format(*sizes[place]))
            elif place >= 0:
                sizes[place] = (size[0], size[1])

    def _find_wrong_annotations(self, of_image: Any, ids: Any, category_ids: Any) -> None:
        """Finds annotations with an id that occurs twice, or without an existing category."""
        categories = [category.id for category in self._categories]
        for place in np.flatnonzero(~np.isin(category_ids, categories)).tolist():
            text = f"its category {category_ids[place]} is none of the file's"
            self._note(of_image[place], ids[place], text)
        order = np.argsort(ids, kind="stable")
        in_order = ids[order]
        for place in order[1:][in_order[1:] == in_order[:-1]].tolist():
            text = f"the file has the annotation id {self._id_text(ids[place])} twice"
            self._note(of_image[place], ids[place], text)

    def _note(self, number: Any, id_: Any, text: str) -> None:
        self._problems.setdefault(int(number), (f"annotation {self._id_text(id_)}", text))

    def _id_text(self, id_: Any) -> str:
        return str(id_) if id_ > NO_NUMBER else [*self._odd_ids][NO_NUMBER - int(id_)]

    def _problems_of_images(self, places: Any, of_image: Any) -> list[tuple[int, str]]:
        """Returns the problems of images that exist; the others become lines."""
        # Annotations that are right but have no image.
        for place in np.flatnonzero(places[of_image] < 0).tolist():
            self._note(of_image[place], self._ids[place], "")
        ids = [*self._numbers]
        problems: dict[int, str] = {}
        for number, (where, text) in self._problems.items():
            if places[number] >= 0:
                problems.setdefault(int(places[number]), f"{where}: {text}")
            else:
                absent = text or f"there is no image {brief(ids[number])}"
                self._damaged.append((f"{self._path}, {where}", absent))
        return list(problems.items())


def _differ(one: Size, other: Size) -> bool:
    return (0, 0) not in (one, other) and one != other
