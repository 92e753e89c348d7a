"""Shapes in the JSON files of labelme.

    {"imagePath": "a.jpg", "imageHeight": 480, "imageWidth": 640, "shapes": [
      {"label": "cat", "shape_type": "polygon", "points": [[x, y], ...], "group_id": null}, ...]}

Points are columns and rows of the image as it is shown. Shapes with one label and one `group_id`
are one object. `imageData`, a copy of the image, is not read. Format: wkentaro/labelme,
`labelme/label_file.py` and `labelme/utils/shape.py`; `oriented_rectangle` and `rotation`, four
points, are of later versions and of X-AnyLabeling.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import brief
from tf_frame.text_file import normal_name, parse_integer, read_json
from tf_frame_vision.reading.class_names import is_background
from tf_frame_vision.reading.image_header import ImageError
from tf_frame_vision.reading.pixels import load_mask

# Labels of labelme's tutorials for pixels that do not count, and for those of no object. A shape
# with another name of the background gets the second.
IGNORE, BACKGROUND = "__ignore__", "_background_"
POLYGON, RECTANGLE, CIRCLE, MASK = "polygon", "rectangle", "circle", "mask"
ROTATED = ("oriented_rectangle", "rotation")
# Polygons of more points would fill the memory.
_KEPT_POINTS = 4
# Pixels; no image is as large, and squares of these are finite.
_BEYOND = 1e9
# Kind of a shape -> numbers of points that it may have; None: three or more.
_POINTS: dict[str, Sequence[int] | None] = {
    POLYGON: None,
    RECTANGLE: (2, 4),
    CIRCLE: (2,),
    MASK: (2,),
    **dict.fromkeys(ROTATED, (4,)),
}


class ShapeError(Exception):
    """A shape that cannot be used; the message says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class LabelmeShape:
    """A shape of an image.

    Attributes:
      place: its place in the list, counted from 1.
      label: its class, `IGNORE` or `BACKGROUND`.
      kind: see `shape_type`.
      points: `x, y` of each point, in pixels; of a polygon of more than four points, those of two
        corners of the box around it.
      count: the number of points.
      group: shapes of one label and one group are one object; None: an object of its own.
    """

    place: int
    label: str
    kind: str
    points: Sequence[float]
    count: int
    group: int | str | None

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Upper, left, lower and right edge of the box around the shape."""
        xs, ys = self.points[::2], self.points[1::2]
        if self.kind == CIRCLE:
            radius = math.dist((xs[0], ys[0]), (xs[1], ys[1]))
            return ys[0] - radius, xs[0] - radius, ys[0] + radius, xs[0] + radius
        # The points of a mask are its first and its last pixel.
        beyond = 1 if self.kind == MASK else 0
        return min(ys), min(xs), max(ys) + beyond, max(xs) + beyond


def examine_labelme(path: Path) -> Any:
    """Reads a JSON file, for `reading.scan`.

    Returns:
      `[imagePath, height, width, shapes]`, the shapes as a text in JSON, which takes a tenth of the
      memory of lists: the values of a `LabelmeShape` of each shape, or
      the reason why the shape cannot be used; None for a file of another program.
    """
    content = read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get("shapes"), list):
        return None
    size = []
    for key in ("imageHeight", "imageWidth"):
        try:
            size.append(None if content.get(key) is None else parse_integer(content[key]))
        except ValueError as error:
            raise DataError(f"its {key} {error}") from None
    name = content.get("imagePath")
    return [
        name if isinstance(name, str) else "",
        *size,
        json.dumps([*map(_examined, content["shapes"])]),
    ]


def _examined(shape: Any) -> Any:
    try:
        label, kind, points, group = parse_shape(shape)
    except ShapeError as error:
        return str(error)
    count = len(points) // 2
    if kind == MASK:
        try:
            decode_mask(shape)
        except ShapeError as error:
            return str(error)
    if kind == POLYGON and count > _KEPT_POINTS:
        xs, ys = points[::2], points[1::2]
        points = [min(xs), min(ys), max(xs), max(ys)]
    return [label, kind, points, count, group]


def parse_shape(shape: Any) -> tuple[str, str, list[float], int | str | None]:
    """Returns label, kind, points and group of a shape; any background has the label `BACKGROUND`.

    Raises:
      ShapeError: says why it cannot be used.
    """
    if not isinstance(shape, dict):
        raise ShapeError("it is no object of JSON")
    label, kind = shape.get("label"), shape.get("shape_type") or POLYGON
    if not isinstance(label, str) or not label.strip():
        raise ShapeError("it has no label")
    if not isinstance(kind, str):
        raise ShapeError(f"its shape_type {brief(kind)} is no text")
    group = shape.get("group_id")
    if not isinstance(group, (int, str)):
        group = None
    try:
        points = [float(value) for x, y in shape["points"] for value in (x, y)]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ShapeError(f"the points of its {kind} are no list of pairs of numbers") from None
    if not all(abs(value) < _BEYOND for value in points):
        raise ShapeError(f"a point of its {kind} is not finite, or is beyond any image")
    label = BACKGROUND if is_background(label) else normal_name(label)
    return label, kind, points, group


def decode_mask(shape: Mapping[str, Any]) -> Any:
    """Returns the pixels of a mask, an image in base64: `[height, width]` bool.

    Raises:
      ShapeError: it is none.
    """
    try:
        return load_mask(base64.b64decode(shape["mask"], validate=True)) > 0
    except (KeyError, TypeError, ValueError):
        raise ShapeError("its mask is no image in base64") from None
    except ImageError as error:
        raise ShapeError(f"its mask cannot be used: {error}") from None


def shape_problem(kind: str, count: int) -> str:
    """Returns why a shape is no object; empty if it is an object."""
    if kind not in _POINTS:
        return (
            f"its {kind} encloses nothing; remove it, or leave such shapes out: "
            f"--input.left_out_shapes {kind}"
        )
    counts = _POINTS[kind]
    if count < 3 if counts is None else count not in counts:
        needed = "3 or more" if counts is None else " or ".join(map(str, counts))
        return f"its {kind} has {count} points instead of {needed}"
    return ""
