"""Reads COCO's JSON files element by element; annotations are kept in a temporary file.

The polygons of a large data set would fill gigabytes of memory. `marshal` is ten times as fast as
JSON; no other process reads the file.
"""

from __future__ import annotations

import dataclasses
import marshal
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.json_lists import read_json_lists
from tf_frame.text_file import parse_integer
from tf_frame_deeplab.inputs.coco_cache import Place, Spool

_LISTS = ("images", "annotations", "categories")
_IMAGE = ("id", "file_name", "height", "width")
_ANNOTATION = ("id", "category_id", "iscrowd", "segmentation")


@dataclasses.dataclass(frozen=True)
class CocoFileContent:
    """Content of a JSON file.

    Attributes:
      path: the file.
      images: `id`, `file_name`, `height` and `width` of each image; or anything else that there is.
      annotations: key of an image, see `id_key` -> places in the spool of `[place in the list,
        annotation]`; of an annotation `id`, `category_id`, `iscrowd` and `segmentation` are kept.
      categories: as in the file.
      spool: keeps the annotations.
    """

    path: Path
    images: Sequence[Any]
    annotations: dict[Any, list[Place]]
    categories: Sequence[Any]
    spool: Spool


def read_coco_file(path: Path) -> CocoFileContent:
    """Reads a JSON file.

    Raises:
      DataError: it is no JSON, or lacks one of the lists.
    """
    spool = Spool(dumps=marshal.dumps, loads=marshal.loads)
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
    return CocoFileContent(path, images, annotations, categories, spool)


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
