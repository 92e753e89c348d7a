"""Boxes drawn on a picture, upright or rotated, with a caption at each.

Small pictures are enlarged first, so that captions can be read and lines do not hide the objects.
On large pictures lines and captions are larger, so that they are seen where the picture is shrunk.
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
from tf_frame_vision.drawing.text import text_width

_SIZE = 11
_CAPTION = 13
_LINE = 2
_LEAST_SIDE = 400
# Longer side of a picture from which on lines and captions grow.
_LARGE_SIDE = 800
# Captions on colours that are brighter are black.
_BRIGHT = 140


def enlarged(picture: Pixels) -> Pixels:
    """Repeats pixels of a small picture until its longer side has at least 400.

    Args:
      picture: `[height, width, 3]`.

    Returns:
      `[factor * height, factor * width, 3]`, with a whole factor.
    """
    factor = -(-_LEAST_SIDE // max(*picture.shape[:2], 1))
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


def upright_corners(boxes: NDArray[Any]) -> NDArray[Any]:
    """Returns the corners of boxes `[n, 4]`: upper, left, lower, right; `[n, 4, 2]`."""
    return boxes[:, [[0, 1], [0, 3], [2, 3], [2, 1]]]


def draw_boxes(
    picture: Pixels,
    corners: NDArray[Any],
    colours: Sequence[Any],
    captions: Sequence[str] = (),
) -> Pixels:
    """Draws boxes; later ones lie above earlier ones, and captions above all boxes.

    Args:
      picture: `[height, width, 3]`.
      corners: `[n, 4, 2]`: row and column of each corner, in order around, as shares of height
        and width.
      colours: red, green and blue of each box.
      captions: the text of each box; none: no text.

    Returns:
      The same shape.
    """
    canvas = Image.fromarray(picture)
    draw = ImageDraw.Draw(canvas)
    scale = max(1.0, max(canvas.size) / _LARGE_SIDE)
    # The centre of the first pixel, Pillow's 0, is at 0.5.
    places = corners[..., ::-1] * (canvas.width, canvas.height) - 0.5
    fills = [tuple(map(int, colour)) for colour in colours]
    for around, fill in zip(places, fills, strict=True):
        # The first line once more, so that the first corner is as round as the others.
        points = [*map(tuple, around), *map(tuple, around[:2])]
        draw.line(points, fill=fill, width=round(_LINE * scale), joint="curve")
    for around, fill, caption in zip(places, fills, captions, strict=False):
        _write(draw, around, fill, caption, canvas.size, scale)
    return np.array(canvas)


def _write(
    draw: Any, around: Any, fill: Any, caption: str, size: tuple[int, int], scale: float
) -> None:
    """Writes a caption above a box, or within where there is no room, inside the picture."""
    caption, letters, height = printable(caption), round(_SIZE * scale), round(_CAPTION * scale)
    width = text_width(caption, letters) + 4
    left, upper = around.min(axis=0)
    upper = upper - height if upper >= height else upper
    left, upper = (
        max(min(place, most), 0)
        for place, most in zip((left, upper), (size[0] - width, size[1] - height), strict=True)
    )
    draw.rectangle([left, upper, left + width - 1, upper + height - 1], fill=fill)
    ink = "black" if sum(fill) / 3 > _BRIGHT else "white"
    font = font_for(caption, letters)
    draw.text((left + 2, upper + height / 2), caption, fill=ink, font=font, anchor="lm")
