"""Label files of YOLO: a text file for each image, a line for each object.

    class cx cy width height              a box
    class x1 y1 x2 y2 x3 y3 x4 y4         a rotated box (YOLO-OBB)
    class x1 y1 x2 y2 x3 y3 ...           a polygon (YOLO-seg)

Classes count from 0; coordinates are shares of the width and the height of the image as it is
shown. A further number at the end is a confidence, which is left out. A line that occurs twice
counts once. Rules and tolerances are those of ultralytics/ultralytics, `ultralytics/data/utils.py`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text_file import read_lines, split_words
from tf_frame_vision.reading.scan import Problem

AUTO, BOXES, OBB, SEGMENTS = "auto", "boxes", "obb", "segments"
_BOX, _FOUR_POINTS, _LEAST = 4, 8, 6
# Shares reach so far beyond the image by rounding.
_TOLERANCE = 0.01
# No annotator draws an object twice as large as the image: such numbers are pixels.
_PIXELS = 2.0


@dataclasses.dataclass(frozen=True, slots=True)
class YoloObject:
    """An object of a label file.

    Attributes:
      line: its line, counted from 1.
      number: its class, from 0 on.
      count: numbers after the class: 4 of a box, else two for each point.
      values: `x, y` of each of four points, else centre, width and height of the box, or of the
        box around the points; shares.
    """

    line: int
    number: int
    count: int
    values: tuple[float, ...]

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Upper, left, lower and right edge of the box, or of the box around the points."""
        cx, cy, width, height = _centre_and_size(self.values)
        return cy - height / 2, cx - width / 2, cy + height / 2, cx + width / 2


def examine_labels(path: Path, keypoints: int = 0) -> Any:
    """Reads a label file, for `reading.scan`.

    Returns:
      `[line, class, count, values]`, see `YoloObject`, of each object and `[line, reason]` of each
      line that cannot be used; or a `Problem`.
    """
    try:
        rows = read_labels(path, keypoints)
    except DataError as error:
        return Problem(str(error).removeprefix(f"{path} "))
    return [row if len(row) == 2 else _shortened(*row) for row in rows]


def _shortened(line: int, number: int, values: Sequence[float]) -> list[Any]:
    """Returns a row without the points of a polygon, which would fill the memory."""
    is_short = len(values) == _FOUR_POINTS
    return [line, number, len(values), values if is_short else _centre_and_size(values)]


def read_labels(path: Path, keypoints: int = 0) -> list[list[Any]]:
    """Reads all numbers of a label file.

    Args:
      path: the file.
      keypoints: numbers after each box that are points of a pose, and are left out.

    Returns:
      `[line, class, values]` of each object, and `[line, reason]` of each line that cannot be used.

    Raises:
      DataError: the file cannot be read.
    """
    rows: list[list[Any]] = []
    seen = set()
    for number, line in enumerate(read_lines(path), 1):
        words = tuple(split_words(line))
        if words and words not in seen:
            seen.add(words)
            rows.append([number, *_parse(words, keypoints)])
    return rows


def _parse(words: Sequence[str], keypoints: int) -> Sequence[Any]:
    """Returns class and values of a line, or the reason why it cannot be used."""
    try:
        label, *values = (float(word) for word in words)
    except ValueError:
        return (f"{' '.join(words)[:60]!r} has a word that is no number",)
    if not all(map(math.isfinite, (label, *values))):
        return ("it has a number that is not finite",)
    if label < 0 or not label.is_integer():
        return (f"its class {words[0]} is no whole number from 0 on",)
    if keypoints:
        if len(values) != _BOX + keypoints:
            return (f"it has {len(values)} numbers instead of {_BOX} and {keypoints} of keypoints",)
        values = values[:_BOX]
    if len(values) < _BOX:
        return (f"it has {len(values)} numbers after its class; a box has 4, an outline 6 or more",)
    if len(values) % 2:
        values.pop()  # A confidence.
    return (_range_problem(values),) if _range_problem(values) else (int(label), values)


def _range_problem(values: Sequence[float]) -> str:
    shares = _centre_and_size(values)
    wrong = [value for value in shares if not -_TOLERANCE <= value <= 1 + _TOLERANCE]
    if not wrong:
        return ""
    if max(values) > _PIXELS:
        return f"its numbers, such as {max(values):g}, are pixels; YOLO's are shares, 0 to 1"
    return f"it reaches beyond the image: centre and size {shares} are not all from 0 to 1"


def _centre_and_size(values: Sequence[float]) -> tuple[float, float, float, float]:
    if len(values) == _BOX:
        cx, cy, width, height = values
        return cx, cy, width, height
    (left, right), (upper, lower) = ((min(side), max(side)) for side in (values[::2], values[1::2]))
    return (left + right) / 2, (upper + lower) / 2, right - left, lower - upper


def find_form(objects: Iterable[YoloObject], form: str) -> str:
    """Returns the form of a data set: boxes, rotated boxes or polygons.

    Four points everywhere are rotated boxes; only the option `form` can say that they are
    polygons.

    Args:
      objects: all objects of all files.
      form: the option; AUTO: the objects decide.
    """
    if form != AUTO:
        return form
    counts = {each.count for each in objects}
    if counts <= {_BOX}:
        return BOXES
    return OBB if counts == {_FOUR_POINTS} else SEGMENTS


def form_problem(each: YoloObject, form: str) -> str:
    """Returns why an object does not belong to the form; empty if it does."""
    count = each.count
    if form == BOXES and count != _BOX:
        return f"it has {count} numbers after its class instead of the 4 of a box"
    if form == OBB and count != _FOUR_POINTS:
        return f"it has {count} numbers after its class instead of the 8 of a rotated box"
    return ""
