"""Legends: the names of colours, below a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.drawing.text import font, text_width

_SIZE = 13
_LINE = 18
_MARGIN = 4
_SWATCH = 12
_FRAME = (90, 90, 90)
# From the left of a swatch to its text, and from there to the next swatch.
_TEXT = _SWATCH + 5
_GAP = 12

Entry = tuple[str, Any]


def with_legend(picture: Pixels, entries: Sequence[Entry]) -> Pixels:
    """Adds a legend below a picture, whose own pixels stay; narrow ones become as wide as a name.

    Args:
      picture: `[height, width, 3]`.
      entries: name, and red, green and blue, of each colour; none: no legend.

    Returns:
      `[height + lines, width, 3]`.
    """
    if not entries:
        return picture
    widths = [_TEXT + text_width(name, _SIZE) for name, _ in entries]
    height, width = picture.shape[:2]
    width = max(width, max(widths) + 2 * _MARGIN)
    places = _places(widths, width - 2 * _MARGIN)
    lines = places[-1][0] + 1
    canvas = Image.new("RGB", (width, height + lines * _LINE + 2 * _MARGIN), "white")
    canvas.paste(Image.fromarray(picture))
    draw = ImageDraw.Draw(canvas)
    for (line, left), (name, colour) in zip(places, entries, strict=True):
        x, y = left + _MARGIN, height + _MARGIN + line * _LINE
        box = [x, y + 3, x + _SWATCH, y + 3 + _SWATCH]
        draw.rectangle(box, fill=tuple(map(int, colour)), outline=_FRAME)
        draw.text((x + _TEXT, y + _LINE // 2), name, fill="black", font=font(_SIZE), anchor="lm")
    return np.array(canvas)


def _places(widths: Sequence[int], width: int) -> list[tuple[int, int]]:
    """Line and left end of each entry: as many in a line as there is room for."""
    places, line, left = [], 0, 0
    for entry in widths:
        if left and left + entry > width:
            line, left = line + 1, 0
        places.append((line, left))
        left += entry + _GAP
    return places
