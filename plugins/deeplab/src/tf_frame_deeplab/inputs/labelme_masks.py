"""The input `labelme_masks`: images, and shapes of labelme, which are drawn as masks.

Layouts and JSON files as for detection's input `labelme`:
`tf_frame_vision.formats.labelme_shapes`. Where shapes overlap, the later one is seen, as in
labelme's own masks; `__ignore__` does not count, `_background_` is the background.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame.text_file import normal_name, read_json
from tf_frame_deeplab.inputs.drawn_data import (
    DrawnData,
    DrawnImage,
    Size,
    outside_problem,
    with_background,
)
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
    LabelmeShape,
    decode_mask,
    parse_shape,
)

_TWO_POINTS = 4


@dataclasses.dataclass(frozen=True)
class Params(LabelmeOptions, DrawnOptions):
    """Options of the input."""


class LabelmeMasks(DrawnMasks):
    """Images, and shapes of labelme."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.LABELME,)
    what_to_do = "Give --input.data_dir the folder of the images and labelme's JSON files"

    def read_data(self, root: Path) -> DrawnData:
        params = self.params
        return read_labelme_masks(
            root, params, eval_split=params.eval_split, outside=params.allow_outside
        )


def read_labelme_masks(
    root: Path, options: LabelmeOptions, *, eval_split: str, outside: bool
) -> DrawnData:
    """Reads a folder; see `tf_frame_vision.formats.labelme.read_labelme`.

    Raises:
      DataError: the folder cannot be read.
    """
    data = read_labelme(root, options, eval_split=eval_split, outside=outside)
    names, numbers = with_background(data.names)
    classes: dict[str, int | None] = {
        normal_name(name): number for name, number in zip(data.names, numbers, strict=True)
    }
    classes |= {BACKGROUND: 0, IGNORE: None}

    def regions(file: Path, size: Size) -> list[Region]:
        return _regions(read_json(file)["shapes"], classes, options.left_out_shapes)

    def images(part: Sequence[LabelmeImage]) -> list[DrawnImage]:
        return [_image(image, classes) for image in part]

    evaluation = None if data.evaluation is None else images(data.evaluation)
    return DrawnData(names, images(data.training), evaluation, regions, data.notes)


def _image(image: LabelmeImage, classes: Mapping[str, int | None]) -> DrawnImage:
    problems = list(image.problems)
    for shape in image.shapes:
        problem = _problem(shape, classes, image.size)
        if problem:
            problems.append(f"shape {shape.place}: {problem}")
    return DrawnImage(
        image.path, str(image.file), image.file, image.size, problems, error=image.error
    )


def _problem(shape: LabelmeShape, classes: Mapping[str, int | None], size: Size | None) -> str:
    if shape.label not in classes:
        return f"its class {shape.label!r} is none of the file of the classes"
    return outside_problem(shape.edges, size)


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
