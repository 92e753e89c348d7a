"""Lines of text below a picture, in a font that makes them as wide as the picture at most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.drawing.text import font, text_width

_SIZE = 20
_LEAST_SIZE = 6
_LINE = 26
_MARGIN = 4


def with_captions(picture: Pixels, lines: Sequence[str]) -> Pixels:
    """Adds lines of text below a picture; the size of the result depends on their number alone.

    Characters that Pillow's font lacks are boxes; those that cannot be printed are escaped.

    Args:
      picture: `[height, width, 3]`.
      lines: the texts, from above to below.

    Returns:
      `[height + 26 * len(lines), width, 3]`.
    """
    height, width = picture.shape[:2]
    canvas = Image.new("RGB", (width, height + _LINE * len(lines)), "white")
    canvas.paste(Image.fromarray(picture))
    draw = ImageDraw.Draw(canvas)
    for number, line in enumerate(map(_printable, lines)):
        size = _fitting_size(line, width - 2 * _MARGIN)
        place = (_MARGIN, height + _LINE * number + (_LINE - size) // 2)
        draw.text(place, line, fill="black", font=font(size))
    return np.array(canvas)


def _fitting_size(line: str, width: int) -> int:
    size = _SIZE * width // max(text_width(line, _SIZE), 1)
    return min(max(size, _LEAST_SIZE), _SIZE)


def _printable(line: str) -> str:
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
