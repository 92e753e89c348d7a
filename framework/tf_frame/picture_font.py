"""Font of a text in a picture: Pillow's own, or one of the machine for letters that it lacks.

Pillow's own font, which is the same on every machine, has the letters of ASCII only.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

from PIL import ImageFont

# Files that Linux, macOS and Windows have; Pillow looks for them in the folders of the system.
_FILES = (
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf"),
    *("NotoSansCJK-Regular.ttc", "Arial Unicode.ttf", "msyh.ttc", "seguisym.ttf"),
)
# No font has a glyph of this code point, which is no character.
_NO_CHARACTER = "\U0010ffff"


def font_for(text: str, size: int) -> Any:
    """Returns the first font that has all characters of a text, or else most of them.

    Args:
      text: the text.
      size: height of a line, about, in pixels.
    """
    fonts = _fonts(size, plain=text.isascii())
    return max(fonts, key=lambda font: sum(_has(font, character) for character in {*text}))


@functools.lru_cache
def _fonts(size: int, *, plain: bool) -> Sequence[Any]:
    fonts = [ImageFont.load_default(size)]
    for name in () if plain else _FILES:
        with contextlib.suppress(OSError):  # This machine does not have it.
            fonts.append(ImageFont.truetype(name, size))
    return fonts


@functools.lru_cache(maxsize=4096)
def _has(font: Any, character: str) -> bool:
    if character.isascii():
        return True
    return bytes(font.getmask(character)) != bytes(font.getmask(_NO_CHARACTER))
