"""The input `labelme`: images, and a JSON file of each with shapes.

data_dir/a.jpg, data_dir/a.json    or where `imagePath` of the file says
data_dir/train/..., data_dir/val/...    parts; may be missing
data_dir/classes.txt               the classes, a line each; without it all that occur, sorted

Rectangles and rotated rectangles are boxes; of polygons, circles and masks the boxes around them
count. Format: `tf_frame_vision.formats.labelme_shapes`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import (
    FolderContent,
    Marked,
    Part,
    Photograph,
    class_number,
    number_classes,
)
from tf_frame_detection.inputs.photographs import collect
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.labelme import LabelmeImage, LabelmeOptions, read_labelme
from tf_frame_vision.formats.labelme_shapes import (
    BACKGROUND,
    IGNORE,
    POLYGON,
    RECTANGLE,
    ROTATED,
    LabelmeShape,
)
from tf_frame_vision.formats.record_fields import RecordError
from tf_frame_vision.reading.damage import Damage

_FOUR_CORNERS = 4


@dataclasses.dataclass(frozen=True)
class Params(LabelmeOptions, FolderOptions):
    """Options of the input."""

    rotated: bool = option(False, "also yield rotated boxes, of shapes with four corners")


def read_labelme_boxes(root: Path, params: Any) -> FolderContent:
    """Reads a folder; see `tf_frame_vision.formats.labelme.read_labelme`.

    Raises:
      DataError: the folder cannot be read.
    """
    data = read_labelme(root, params)
    classes, rotated = number_classes(data.names), params.rotated
    training, evaluation = (
        None if part is None else _part(root, part, classes, rotated)
        for part in (data.training, data.evaluation)
    )
    assert training is not None
    return FolderContent(
        data.names, training, evaluation, data.notes, rotated=rotated, splits=data.splits
    )


class Labelme(AnnotatedFolder):
    """Images, and JSON files of labelme."""

    Params: ClassVar[type] = Params
    matches_classes_by = "classes"
    formats = (look_alikes.LABELME,)
    what_to_do = "Give --input.data_dir the folder of the images and labelme's JSON files"
    read_folder = staticmethod(read_labelme_boxes)


def _part(
    root: Path, images: Sequence[LabelmeImage], classes: Mapping[str, int], rotated: bool
) -> Part:
    photographs = (_photograph(image, classes, rotated) for image in images if not image.error)
    return collect(root, photographs), [
        Damage(str(image.file), image.error) for image in images if image.error
    ]


def _photograph(image: LabelmeImage, classes: Mapping[str, int], rotated: bool) -> Photograph:
    objects: dict[object, list[LabelmeShape]] = {}
    for shape in image.shapes:
        if shape.label != BACKGROUND:
            name = shape.place if shape.group is None else (shape.label, shape.group)
            objects.setdefault(name, []).append(shape)
    marks, problems = [], list(image.problems)
    for shapes in objects.values():
        record = f"shape {shapes[0].place}"
        try:
            marks.append(_mark(shapes, record, classes, rotated))
        except RecordError as error:
            problems.append(f"{record}: {error}")
    return Photograph(image.path, str(image.file), marks, image.size, problems=problems)


def _mark(
    shapes: Sequence[LabelmeShape], record: str, classes: Mapping[str, int], rotated: bool
) -> Marked:
    """Returns the object that shapes of one label and one group are."""
    edges = [*zip(*(shape.edges for shape in shapes), strict=True)]
    box = (min(edges[0]), min(edges[1]), max(edges[2]), max(edges[3]))
    label = shapes[0].label
    if label == IGNORE:
        # Such an object is neither right nor wrong, whatever its class.
        return Marked(box, 0, record, ignored=True)
    corners = _corners(shapes) if rotated else ()
    return Marked(box, class_number(classes, label), record, corners=corners)


def _corners(shapes: Sequence[LabelmeShape]) -> tuple[float, ...]:
    """Returns row and column of four corners; empty for an upright rectangle."""
    kind, points = shapes[0].kind, shapes[0].points
    if len(shapes) > 1 or kind not in (*ROTATED, POLYGON, RECTANGLE):
        raise RecordError(f"its {kind} has no four corners, as --input.rotated needs them")
    count = shapes[0].count
    if kind == RECTANGLE and count < _FOUR_CORNERS:
        return ()
    if count != _FOUR_CORNERS:
        raise RecordError(f"its {kind} has {count} points; --input.rotated needs four")
    return tuple(value for x, y in zip(points[::2], points[1::2], strict=True) for value in (y, x))
