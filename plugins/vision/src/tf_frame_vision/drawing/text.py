"""Text in pictures, by Pillow's own font."""

from __future__ import annotations

import functools
import math
from typing import Any

from PIL import Image, ImageDraw, ImageFont


@functools.lru_cache
def font(size: int) -> Any:
    """Returns Pillow's own font.

    Args:
      size: height of a line, about, in pixels.
    """
    return ImageFont.load_default(size)


def text_width(text: str, size: int) -> int:
    """Returns the width of a line of text, in pixels."""
    width: float = font(size).getlength(text)
    return math.ceil(width)


def upright(text: str, size: int) -> Any:
    """Returns a picture of text that runs from below to above: black on white, grey values."""
    picture = Image.new("L", (max(text_width(text, size), 1), size + size // 3), 255)
    ImageDraw.Draw(picture).text((0, 0), text, fill=0, font=font(size))
    return picture.transpose(Image.Transpose.ROTATE_90)
