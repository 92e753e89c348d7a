"""Picture of a confusion matrix: shares of each label, with the names of the classes.

Rows are labels, columns predictions. Right answers, on the diagonal, are blue, wrong ones red.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from tf_frame.picture_font import font_for
from tf_frame.text import printable
from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.drawing.text import text_width, upright

# Pixels of a cell, by the largest number of classes: with figures, with names, neither.
_CELL, FIGURES = 44, 20
_SMALL_CELL, _NAMES = 14, 200
_LARGEST = 1000
_SIZE, _TITLE, _GAP = 12, 22, 5
_LONGEST = 24
_LINE = 0.85
# What a full cell takes from white.
_RIGHT, _WRONG = (0.9, 0.6, 0.2), (0.1, 0.8, 0.9)
# The least share that its figure shows as more than 0.
_SHOWN = 0.005
# Below this brightness of a cell its figure is white.
_DARK = 140


def confusion_picture(matrix: NDArray[Any], class_names: Sequence[str]) -> Pixels:
    """Draws a confusion matrix.

    Args:
      matrix: `[num_classes, num_classes]`, rows are labels; each is divided by its sum.
      class_names: names of the first classes; numbers stand in for missing ones. Above 200
        classes there are no names, above 20 no figures.

    Returns:
      `[height, width, 3]`.
    """
    num_classes = len(matrix)
    share = shares(matrix)
    side = cell_side(num_classes)
    cells = Image.fromarray(_cells(share, side))
    if num_classes > _NAMES:
        return np.array(cells)
    names = short_names(class_names, num_classes)
    margin = _TITLE + max(text_width(name, _SIZE) for name in names) + 2 * _GAP
    length = max(margin + cells.width, margin + text_width("prediction", _SIZE)) + _GAP
    canvas = Image.new("RGB", (length, length), "white")
    canvas.paste(cells, (margin, margin))
    _write_names(canvas, names, margin, side)
    if num_classes <= FIGURES:
        _write_figures(canvas, share, margin, side)
    return np.array(canvas)


def shares(matrix: NDArray[Any]) -> NDArray[Any]:
    """Returns a matrix of counts divided by the sum of each row."""
    divided: NDArray[Any] = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-12)
    return divided


def short_names(class_names: Sequence[str], num_classes: int) -> list[str]:
    """Returns names of all classes that can be printed, of 24 characters at most."""
    names = [*class_names[:num_classes], *map(str, range(len(class_names), num_classes))]
    names = [*map(printable, names)]
    return [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "\u2026" for name in names]


def cell_side(num_classes: int) -> int:
    """Returns height and width of a cell, in pixels."""
    if num_classes <= FIGURES:
        return _CELL
    return _SMALL_CELL if num_classes <= _NAMES else max(_LARGEST // num_classes, 1)


def _cells(share: NDArray[Any], side: int) -> Pixels:
    """Draws the cells without text, with lines between them if there is room."""
    right = np.eye(len(share))[..., np.newaxis]
    ink = right * _RIGHT + (1 - right) * _WRONG
    # The square root makes a few wrong answers visible.
    colours = 1 - np.sqrt(share)[..., np.newaxis] * ink
    pixels = np.repeat(np.repeat(colours, side, axis=0), side, axis=1)
    if side >= _SMALL_CELL:
        pixels[side - 1 :: side] *= _LINE
        pixels[:, side - 1 :: side] *= _LINE
    result: Pixels = np.round(pixels * 255).astype(np.uint8)
    return result


def _write_names(canvas: Any, names: Sequence[str], margin: int, side: int) -> None:
    draw = ImageDraw.Draw(canvas)
    title = "prediction"
    draw.text((margin, _GAP), title, fill="black", font=font_for(title, _SIZE))
    label = upright("label", _SIZE)
    canvas.paste(label, (_GAP, margin))
    for number, name in enumerate(names):
        middle = margin + number * side + side // 2
        place, font = (margin - _GAP, middle), font_for(name, _SIZE)
        draw.text(place, name, anchor="rm", fill="black", font=font)
        column = upright(name, _SIZE)
        canvas.paste(column, (middle - column.width // 2, margin - _GAP - column.height))


def _write_figures(canvas: Any, share: NDArray[Any], margin: int, side: int) -> None:
    draw = ImageDraw.Draw(canvas)
    for row, column in np.argwhere(share >= _SHOWN):
        x, y = (margin + number * side + side // 2 for number in (column, row))
        brightness = sum(canvas.getpixel((x - side // 2 + 2, y - side // 2 + 2))) / 3
        figure = f"{share[row, column]:.2f}"
        draw.text(
            (x, y),
            figure,
            fill="white" if brightness < _DARK else "black",
            font=font_for(figure, _SIZE),
            anchor="mm",
        )
