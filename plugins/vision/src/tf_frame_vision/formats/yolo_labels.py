"""Label files of YOLO: a text file for each image, a line for each object.

    class cx cy width height              a box
    class x1 y1 x2 y2 x3 y3 x4 y4         a rotated box (YOLO-OBB)
    class x1 y1 x2 y2 x3 y3 ...           a polygon (YOLO-seg)

Classes count from 0; coordinates are shares of the width and the height of the image as it is
shown. A further number at the end is a confidence, which is left out. A line that occurs twice
counts once. Rules and tolerances are those of ultralytics/ultralytics, `ultralytics/data/utils.py`.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import brief
from tf_frame.text_file import read_lines, split_words

AUTO, BOXES, OBB, SEGMENTS = "auto", "boxes", "obb", "segments"
# Numbers of a box, and those of four points.
_BOX, COLUMNS = 4, 8
# No data set has more classes; float32 holds the numbers exactly.
LARGEST_CLASS = 2**20
# Shares reach so far beyond the image by rounding.
_TOLERANCE = 0.01
# No annotator draws an object twice as large as the image: such numbers are pixels.
_PIXELS = 2.0


def examine_labels(path: Path, keypoints: int = 0) -> Any:
    """Reads a label file, for `reading.scan`.

    Returns:
      A text in base64, `[objects, 3 + COLUMNS]` float32: line, class, count of numbers and values
      of each object, see `yolo.YoloPart`; and the lines that cannot be used, such as `line 3: its
      class ...`.
    """
    rows = read_labels(path, keypoints)
    table = [_shortened(*row) for row in rows if len(row) > 2]
    packed = base64.b64encode(np.array(table, "<f4").tobytes()).decode()
    return packed, [f"line {row[0]}: {row[1]}" for row in rows if len(row) == 2]


def _shortened(line: int, number: int, values: Sequence[float]) -> list[float]:
    """Returns a row without the points of a polygon, which would fill the memory."""
    if len(values) == COLUMNS:
        return [line, number, len(values), *values]
    return [line, number, len(values), *_centre_and_size(values), 0, 0, 0, 0]


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
        return (f"{brief(' '.join(words)[:60])} has a word that is no number",)
    if not all(map(math.isfinite, (label, *values))):
        return ("it has a number that is not finite",)
    if not 0 <= label <= LARGEST_CLASS or not label.is_integer():
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


def has_object(path: Path) -> bool:
    """Returns whether a text file is a label file with an object."""
    try:
        return any(len(row) > 2 for row in read_labels(path))
    except DataError:
        return False


def find_form(counts: Any, form: str) -> str:
    """Returns the form of a data set: boxes, rotated boxes or polygons.

    Four points everywhere are rotated boxes; only the option `form` can say that they are
    polygons.

    Args:
      counts: numbers after the class of all objects of all files.
      form: the option; AUTO: the objects decide.
    """
    if form != AUTO:
        return form
    kinds = {*np.unique(counts).tolist()}
    if kinds <= {_BOX}:
        return BOXES
    return OBB if kinds == {COLUMNS} else SEGMENTS


def form_problem(count: int, form: str) -> str:
    """Returns why an object with a count of numbers is not of the form; empty if it is."""
    if form == BOXES and count != _BOX:
        return f"it has {count} numbers after its class instead of the 4 of a box"
    if form == OBB and count != COLUMNS:
        return f"it has {count} numbers after its class instead of the 8 of a rotated box"
    return ""
