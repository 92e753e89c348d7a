"""Reads COCO's JSON files element by element; annotations are kept in a temporary file.

The polygons of a large data set would fill gigabytes of memory.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.json_lists import read_json_lists
from tf_frame.text_file import parse_integer

_LISTS = ("images", "annotations", "categories")
_IMAGE = ("id", "file_name", "height", "width")
_ANNOTATION = ("id", "category_id", "iscrowd", "segmentation")
# First byte and number of bytes.
Place = tuple[int, int]


class Spool:
    """Keeps values in a temporary file, which goes with the process."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, closed with the object
        self._end = 0

    def keep(self, value: Any) -> Place:
        """Writes a value that JSON can hold; returns its place.

        Raises:
          DataError: there is no room for it.
        """
        data = json.dumps(value, separators=(",", ":")).encode()
        place = (self._end, len(data))
        try:
            self._file.write(data)
        except OSError as error:
            raise DataError(
                f"{tempfile.gettempdir()} cannot hold the annotations: {error.strerror}; name "
                "another folder by TMPDIR"
            ) from None
        self._end += len(data)
        return place

    def read(self, place: Place) -> Any:
        """Returns the value at a place; threads may call it."""
        start, count = place
        return json.loads(os.pread(self._file.fileno(), count, start))


@dataclasses.dataclass(frozen=True)
class CocoFileContent:
    """Content of a JSON file.

    Attributes:
      path: the file.
      images: `id`, `file_name`, `height` and `width` of each image; or anything else that there is.
      annotations: key of an image, see `id_key` -> places in the spool of `[place in the list,
        annotation]`; of an annotation `id`, `category_id`, `iscrowd` and `segmentation` are kept.
      categories: as in the file.
    """

    path: Path
    images: Sequence[Any]
    annotations: dict[Any, list[Place]]
    categories: Sequence[Any]


def read_coco_file(path: Path, spool: Spool) -> CocoFileContent:
    """Reads a JSON file.

    Raises:
      DataError: it is no JSON, or lacks one of the lists.
    """
    images: list[Any] = []
    categories: list[Any] = []
    annotations: dict[Any, list[Place]] = defaultdict(list)
    present = set()
    for name, elements in read_json_lists(path):
        present.add(name)
        if name == "images":
            images += (_some(element, _IMAGE) for element in elements)
        elif name == "categories":
            categories += elements
        elif name == "annotations":
            for place, element in enumerate(elements):
                key = element.get("image_id") if isinstance(element, dict) else None
                row = spool.keep([place, _some(element, _ANNOTATION)])
                annotations[id_key(key)].append(row)
    missing = [name for name in _LISTS if name not in present]
    if missing:
        raise DataError(f"{path} has no list {', '.join(missing)}; is it a file of instances?")
    return CocoFileContent(path, images, annotations, categories)


def _some(element: Any, keys: Sequence[str]) -> Any:
    if not isinstance(element, dict):
        return element
    return {key: element[key] for key in keys if key in element}


def id_key(id_: Any) -> Any:
    """Returns an id in one form, because programs write 1, 1.0 and "1"."""
    try:
        return parse_integer(id_)
    except ValueError:
        return id_ if isinstance(id_, str) else repr(id_)
