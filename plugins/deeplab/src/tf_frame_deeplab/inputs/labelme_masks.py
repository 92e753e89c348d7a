"""The input `labelme_masks`: images, and shapes of labelme, which are drawn as masks.

Layouts and JSON files as for detection's input `labelme`:
`tf_frame_vision.formats.labelme_shapes`. Where shapes overlap, the later one is seen, as in
labelme's own masks; `__ignore__` does not count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame.text import brief
from tf_frame.text_file import normal_name, read_json
from tf_frame_deeplab.inputs.drawn_data import DrawnData, DrawnImage, Size, with_background
from tf_frame_deeplab.inputs.drawn_masks import DrawnMasks, DrawnOptions
from tf_frame_deeplab.inputs.regions import Region, circle
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.labelme import LabelmeImage, LabelmeOptions, read_labelme
from tf_frame_vision.formats.labelme_shapes import (
    BACKGROUND,
    CIRCLE,
    IGNORE,
    MASK,
    RECTANGLE,
    decode_mask,
    parse_shape,
)

_TWO_POINTS = 4


@dataclasses.dataclass(frozen=True)
class Params(LabelmeOptions, DrawnOptions):
    """Options of the input."""


def read_labelme_masks(root: Path, params: Any) -> DrawnData:
    """Reads a folder; see `tf_frame_vision.formats.labelme.read_labelme`.

    Raises:
      DataError: the folder cannot be read.
    """
    data = read_labelme(root, params)
    names, numbers = with_background(data.names)
    classes: dict[str, int | None] = {
        normal_name(name): number for name, number in zip(data.names, numbers, strict=True)
    }
    classes |= {BACKGROUND: 0, IGNORE: None}

    def regions(file: Path, size: Size) -> list[Region]:
        return _regions(read_json(file)["shapes"], classes, params.left_out_shapes)

    training, evaluation = (
        None if part is None else [_image(image, classes) for image in part]
        for part in (data.training, data.evaluation)
    )
    return DrawnData(
        names,
        training or [],
        evaluation,
        regions,
        data.notes,
        record_word="shape",
        splits=data.splits,
    )


class LabelmeMasks(DrawnMasks):
    """Images, and shapes of labelme."""

    Params: ClassVar[type] = Params
    matches_classes_by = "classes"
    formats = (look_alikes.LABELME,)
    what_to_do = "Give --input.data_dir the folder of the images and labelme's JSON files"
    read_folder = staticmethod(read_labelme_masks)


def _image(image: LabelmeImage, classes: Mapping[str, int | None]) -> DrawnImage:
    shapes = image.shapes
    unknown = [
        f"shape {shape.place}: its class {brief(shape.label)} is none of the file of the classes"
        for shape in shapes
        if shape.label not in classes
    ]
    return DrawnImage(
        image.path,
        str(image.file),
        image.file,
        image.size,
        [*image.problems, *unknown],
        image.error,
        boxes=np.array([shape.edges for shape in shapes], np.float32),
        records=[shape.place for shape in shapes],
    )


def _regions(
    shapes: Sequence[Any], classes: Mapping[str, int | None], left_out: Sequence[str]
) -> list[Region]:
    numbers: dict[object, int] = {}
    regions = []
    for place, shape in enumerate(shapes):
        label, kind, points, group = parse_shape(shape)
        if kind not in left_out:
            name = place if group is None else (label, group)
            instance = numbers.setdefault(name, len(numbers) + 1)
            content = _content(kind, points, shape)
            regions.append(Region(classes[label], instance if classes[label] else 0, **content))
    return regions


def _content(kind: str, points: Sequence[float], shape: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a `Region` for the pixels of a shape."""
    if kind == MASK:
        return {"bitmap": (int(points[1]), int(points[0]), decode_mask(shape))}
    if kind == CIRCLE:
        x, y, *rim = points
        return {"polygons": [circle(x, y, float(np.hypot(rim[0] - x, rim[1] - y)))]}
    if kind == RECTANGLE and len(points) == _TWO_POINTS:
        left, upper, right, lower = points
        return {"polygons": [[left, upper, right, upper, right, lower, left, lower]]}
    return {"polygons": [points]}
