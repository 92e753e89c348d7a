"""Objects of COCO's JSON files, for masks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text_file import parse_integer
from tf_frame_deeplab.inputs.coco_file import (
    CocoFileContent,
    Place,
    Spool,
    id_key,
    read_coco_file,
)
from tf_frame_deeplab.inputs.drawn_data import (
    DrawnData,
    DrawnImage,
    Size,
    outside_problem,
    with_background,
)
from tf_frame_deeplab.inputs.regions import Region
from tf_frame_deeplab.inputs.run_lengths import parse_polygons, parse_runs
from tf_frame_vision.formats.coco_layout import CocoFile, CocoOptions, find_coco, find_image
from tf_frame_vision.reading.class_names import find_repeated


def read_coco_masks(
    root: Path, options: CocoOptions, *, eval_split: str, outside: bool
) -> DrawnData:
    """Reads the JSON files of a folder.

    Raises:
      DataError: a file is missing or broken, both have other categories, or nothing can be drawn.
    """
    layout = find_coco(root, options, eval_split=eval_split)
    files = [layout.training, *([layout.evaluation] if layout.evaluation else [])]
    spool = Spool()
    contents = [read_coco_file(file.path, spool) for file in files]
    categories = [_categories(content) for content in contents]
    if categories[0] != categories[-1]:
        raise DataError(f"{files[0].path} and {files[1].path} have other categories")
    ids = sorted(categories[0])
    names, numbers = with_background([categories[0][id_] for id_ in ids])
    reader = _Reader(root, spool, dict(zip(ids, numbers, strict=True)), outside)
    parts = [reader.images(file, content) for file, content in zip(files, contents, strict=True)]
    if not reader.count_drawn:
        raise DataError(
            f"no annotation of {files[0].path} has a segmentation, so there is nothing to draw; "
            "boxes are for --plugin detection --input coco_json"
        )
    evaluation = parts[1] if len(parts) > 1 else None
    return DrawnData(names, parts[0], evaluation, reader.regions, layout.notes, reader.errors)


class _Reader:
    """Reads the images of JSON files.

    Args:
      root: the data folder.
      spool: keeps the objects.
      classes: id of a category -> class.
      outside: whether images may be outside of the data folder.

    Attributes:
      errors: annotations that belong to no image, and images that cannot be used, a line each.
      count_drawn: number of objects with a segmentation.
    """

    def __init__(self, root: Path, spool: Spool, classes: Mapping[int, int], outside: bool) -> None:
        self._root, self._spool, self._classes, self._outside = root, spool, classes, outside
        self.errors: list[str] = []
        self.count_drawn = 0

    def images(self, file: CocoFile, content: CocoFileContent) -> list[DrawnImage]:
        """Returns the images of a JSON file, and keeps their objects."""
        annotations = content.annotations
        images = []
        for place, image in enumerate(content.images):
            try:
                key, name, size = _image(image)
            except ValueError as error:
                self.errors.append(f"{file.path}, image {place} of the list: {error}")
                continue
            rows = [self._spool.read(row) for row in annotations.pop(key, ())]
            drawn, problems = self._objects(rows, size)
            path = find_image(file, name, self._root, outside=self._outside)
            place_of_regions = self._spool.keep(drawn)
            images.append(DrawnImage(path, str(file.path), place_of_regions, size, problems))
        for key, places in annotations.items():
            rows = [self._spool.read(row) for row in places]
            self.errors += [
                f"{file.path}, annotation {_id(*row)}: there is no image {key!r}" for row in rows
            ]
        twice = find_repeated(image.path for image in images)
        if twice is not None:
            raise DataError(f"{file.path} has the image {twice} twice; remove one")
        return images

    def regions(self, place: Place, size: Size) -> list[Region]:
        """Returns the objects of an image, which `images` kept."""
        return [
            Region(number, instance, polygons or (), runs or ())
            for number, instance, polygons, runs in self._spool.read(place)
        ]

    def _objects(
        self, annotations: Sequence[Any], size: Size | None
    ) -> tuple[list[Any], list[str]]:
        rows, problems = [], []
        for instance, (place, annotation) in enumerate(annotations, 1):
            try:
                rows.append(self._object(annotation, instance, size))
            except ValueError as error:
                problems.append(f"annotation {_id(place, annotation)}: {error}")
        self.count_drawn += len(rows)
        return rows, problems

    def _object(self, annotation: Mapping[str, Any], instance: int, size: Size | None) -> list[Any]:
        """Returns class, number, polygons and run lengths of an object."""
        try:
            number: int | None = self._classes[parse_integer(annotation.get("category_id"))]
        except (KeyError, ValueError):
            category = annotation.get("category_id")
            raise ValueError(f"its category {category!r} is none of the file's") from None
        if annotation.get("iscrowd"):
            number = None
        segmentation = annotation.get("segmentation")
        if not segmentation:
            raise ValueError("it has no segmentation; leave it out, or draw its outline")
        instance = instance if number else 0
        if isinstance(segmentation, dict):
            runs, run_size = parse_runs(segmentation)
            if size not in (None, run_size):
                raise ValueError(f"its run lengths are of {run_size} pixels, its image of {size}")
            return [number, instance, None, runs]
        polygons = parse_polygons(segmentation)
        problem = outside_problem(_edges(polygons), size)
        if problem:
            raise ValueError(problem)
        return [number, instance, polygons, None]


def _edges(polygons: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    xs = [x for polygon in polygons for x in polygon[::2]]
    ys = [y for polygon in polygons for y in polygon[1::2]]
    if not all(map(math.isfinite, (*xs, *ys))):
        raise ValueError("its segmentation has a number that is not finite")
    return min(ys), min(xs), max(ys), max(xs)


def _categories(content: CocoFileContent) -> dict[int, str]:
    path = content.path
    try:
        pairs = [(parse_integer(row["id"]), str(row["name"])) for row in content.categories]
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{path}: a category has no id, which is a number, or no name") from None
    if not pairs:
        raise DataError(f"{path} has no category")
    for column, what in zip(zip(*pairs, strict=True), ("id", "name"), strict=True):
        twice = find_repeated(column)
        if twice is not None:
            raise DataError(f"{path} has two categories with the {what} {twice!r}; change one")
    return dict(pairs)


def _image(image: Any) -> tuple[Any, str, Size | None]:
    """Returns id, path and size of an image."""
    if not isinstance(image, dict) or not isinstance(image.get("id"), (int, float, str)):
        raise ValueError("it has no id")
    name = image.get("file_name")
    if not isinstance(name, str) or not name:
        raise ValueError("it has no file_name")
    try:
        size = parse_integer(image.get("height")), parse_integer(image.get("width"))
    except ValueError:
        return id_key(image["id"]), name, None
    return id_key(image["id"]), name, size


def _id(place: int, annotation: Any) -> Any:
    id_ = annotation.get("id") if isinstance(annotation, dict) else None
    return f"{place} of the list" if id_ is None else id_
