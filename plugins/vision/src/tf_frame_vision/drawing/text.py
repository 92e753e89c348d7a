"""Text in pictures: captions and legends below a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tf_frame.picture_font import font_for
from tf_frame.text import printable
from tf_frame_vision.drawing.palette import Pixels

_MARGIN = 4
# Captions: pixels of a text of the usual size, and of a text that must be small; and the height of
# a line over the size.
CAPTION_SIZE, _LEAST_SIZE, _CAPTION_LINE = 20, 6, 1.3
# Legends: from the left of a swatch to its text, and from there to the next swatch.
_LEGEND_SIZE, _LEGEND_LINE, _SWATCH = 13, 18, 12
_TEXT, _GAP = _SWATCH + 5, 12
_FRAME = (90, 90, 90)

# Name, and red, green and blue, of a colour.
Entry = tuple[str, Any]


def text_width(text: str, size: int) -> int:
    """Returns the width of a line of text, in pixels."""
    width: float = font_for(text, size).getlength(text)
    return math.ceil(width)


def upright(text: str, size: int) -> Any:
    """Returns a picture of text that runs from below to above: black on white, grey values."""
    text = printable(text)
    picture = Image.new("L", (max(text_width(text, size), 1), size + size // 3), 255)
    ImageDraw.Draw(picture).text((0, 0), text, fill=0, font=font_for(text, size))
    return picture.transpose(Image.Transpose.ROTATE_90)


def with_captions(picture: Pixels, lines: Sequence[str], size: int = CAPTION_SIZE) -> Pixels:
    """Adds lines of text below a picture; the size of the result depends on their number alone.

    Characters that no font has are boxes; those that cannot be printed are escaped.

    Args:
      picture: `[height, width, 3]`.
      lines: the texts, from above to below.
      size: height of the letters, about, in pixels; a long text has smaller letters.

    Returns:
      `[height + 1.3 * size * len(lines), width, 3]`.
    """
    height, width = picture.shape[:2]
    line_height = round(_CAPTION_LINE * size)
    canvas = Image.new("RGB", (width, height + line_height * len(lines)), "white")
    canvas.paste(Image.fromarray(picture))
    draw = ImageDraw.Draw(canvas)
    for number, line in enumerate(map(printable, lines)):
        letters = _fitting_size(line, width - 2 * _MARGIN, size)
        place = (_MARGIN, height + line_height * number + (line_height - letters) // 2)
        draw.text(place, line, fill="black", font=font_for(line, letters))
    return np.array(canvas)


def _fitting_size(line: str, width: int, size: int) -> int:
    fitting = size * width // max(text_width(line, size), 1)
    return min(max(fitting, _LEAST_SIZE), size)


def with_legend(picture: Pixels, entries: Sequence[Entry]) -> Pixels:
    """Adds a legend below a picture; a narrow picture becomes as wide as a name.

    Args:
      picture: `[height, width, 3]`.
      entries: name, and red, green and blue, of each colour; none: no legend.

    Returns:
      `[height + lines, width, 3]`.
    """
    if not entries:
        return picture
    entries = [(printable(name), colour) for name, colour in entries]
    widths = [_TEXT + text_width(name, _LEGEND_SIZE) for name, _ in entries]
    height, width = picture.shape[:2]
    width = max(width, max(widths) + 2 * _MARGIN)
    places = _places(widths, width - 2 * _MARGIN)
    lines = places[-1][0] + 1
    canvas = Image.new("RGB", (width, height + lines * _LEGEND_LINE + 2 * _MARGIN), "white")
    canvas.paste(Image.fromarray(picture))
    draw = ImageDraw.Draw(canvas)
    for (line, left), (name, colour) in zip(places, entries, strict=True):
        x, y = left + _MARGIN, height + _MARGIN + line * _LEGEND_LINE
        box = [x, y + 3, x + _SWATCH, y + 3 + _SWATCH]
        draw.rectangle(box, fill=tuple(map(int, colour)), outline=_FRAME)
        draw.text(
            (x + _TEXT, y + _LEGEND_LINE // 2),
            name,
            fill="black",
            font=font_for(name, _LEGEND_SIZE),
            anchor="lm",
        )
    return np.array(canvas)


def _places(widths: Sequence[int], width: int) -> list[tuple[int, int]]:
    """Returns line and left end of each entry; a line takes as many entries as fit."""
    places, line, left = [], 0, 0
    for entry in widths:
        if left and left + entry > width:
            line, left = line + 1, 0
        places.append((line, left))
        left += entry + _GAP
    return places
