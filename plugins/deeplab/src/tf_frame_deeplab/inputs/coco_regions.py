"""Objects of COCO's JSON files, for masks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text_file import parse_integer
from tf_frame_deeplab.inputs.coco_cache import CocoIndex, Place, Spool, indexed
from tf_frame_deeplab.inputs.coco_file import CocoFileContent, id_key, read_coco_file
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
    indices = [indexed(file.path, _read) for file in files]
    categories = [index.categories for index, _ in indices]
    if categories[0] != categories[-1]:
        raise DataError(f"{files[0].path} and {files[1].path} have other categories")
    if not any(index.count_drawn for index, _ in indices):
        raise DataError(
            f"no annotation of {files[0].path} has a segmentation, so there is nothing to draw; "
            "boxes are for --plugin detection --input coco_json"
        )
    names, numbers = with_background([name for _, name in categories[0]])

    def regions(place: tuple[int, Place], size: Size) -> list[Region]:
        file, objects = place
        return [
            Region(
                None if category is None else numbers[category],
                0 if category is None or not numbers[category] else instance,
                polygons or (),
                runs or (),
            )
            for category, instance, polygons, runs in indices[file][1].read(objects)
        ]

    parts = [
        _images(root, file, index, number, outside)
        for number, (file, (index, _)) in enumerate(zip(files, indices, strict=True))
    ]
    errors = [
        f"{file.path}, {line}"
        for file, (index, _) in zip(files, indices, strict=True)
        for line in index.errors
    ]
    evaluation = parts[1] if len(parts) > 1 else None
    return DrawnData(names, parts[0], evaluation, regions, layout.notes, errors)


def _images(
    root: Path, file: CocoFile, index: CocoIndex, number: int, outside: bool
) -> list[DrawnImage]:
    """Returns the images of a JSON file; their places begin with the number of the file."""
    images = [
        DrawnImage(
            find_image(file, name, root, outside=outside),
            str(file.path),
            (number, objects),
            (size[0], size[1]) if size else None,
            problems,
        )
        for name, size, problems, objects in index.images
    ]
    twice = find_repeated(image.path for image in images)
    if twice is not None:
        raise DataError(f"{file.path} has the image {twice} twice; remove one")
    return images


def _read(path: Path, spool: Spool) -> CocoIndex:
    """Reads a JSON file, and keeps its objects."""
    content = read_coco_file(path)
    names = _categories(content)
    reader = _Reader(spool, {id_: place for place, id_ in enumerate(sorted(names))})
    categories = [[id_, names[id_]] for id_ in sorted(names)]
    return CocoIndex(categories, reader.images(content), reader.errors, reader.count)


class _Reader:
    """Reads the images of a JSON file.

    Args:
      spool: keeps the objects.
      categories: id of a category -> its place in the order of ids.

    Attributes:
      errors: annotations that belong to no image, and images that cannot be used, a line each.
      count: number of objects that can be drawn.
    """

    def __init__(self, spool: Spool, categories: Mapping[int, int]) -> None:
        self._spool, self._places = spool, categories
        self.errors: list[str] = []
        self.count = 0

    def images(self, content: CocoFileContent) -> list[Any]:
        """Returns `file_name`, size, problems, and place of the objects of each image."""
        annotations = content.annotations
        images = []
        for place, image in enumerate(content.images):
            try:
                key, name, size = _image(image)
            except ValueError as error:
                self.errors.append(f"image {place} of the list: {error}")
                continue
            rows = [content.spool.read(row) for row in annotations.pop(key, ())]
            drawn, problems = self._objects(rows, size)
            images.append([name, size, problems, self._spool.keep(drawn)])
        for key, places in annotations.items():
            rows = [content.spool.read(row) for row in places]
            self.errors += [f"annotation {_id(*row)}: there is no image {key!r}" for row in rows]
        return images

    def _objects(
        self, annotations: Sequence[Any], size: Size | None
    ) -> tuple[list[Any], list[str]]:
        rows, problems = [], []
        for instance, (place, annotation) in enumerate(annotations, 1):
            try:
                rows.append(self._object(annotation, instance, size))
            except ValueError as error:
                problems.append(f"annotation {_id(place, annotation)}: {error}")
        self.count += len(rows)
        return rows, problems

    def _object(self, annotation: Mapping[str, Any], instance: int, size: Size | None) -> list[Any]:
        """Returns place of the category, number, polygons and run lengths of an object."""
        try:
            number: int | None = self._places[parse_integer(annotation.get("category_id"))]
        except (KeyError, ValueError):
            category = annotation.get("category_id")
            raise ValueError(f"its category {category!r} is none of the file's") from None
        if annotation.get("iscrowd"):
            number = None
        segmentation = annotation.get("segmentation")
        if not segmentation:
            raise ValueError("it has no segmentation; leave it out, or draw its outline")
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
