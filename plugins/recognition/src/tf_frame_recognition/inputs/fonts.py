"""Fonts of the machine that have all characters of a label map."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import ImageFont

from tf_frame.errors import DataError
from tf_frame.text import listed

# The usual folders of Linux, macOS and Windows.
_FOLDERS = (
    *("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts"),
    *("/Library/Fonts", "/System/Library/Fonts", "C:/Windows/Fonts"),
)
_SUFFIXES = (".ttf", ".otf", ".ttc")
# Stands for the font that Pillow brings.
EMBEDDED = ""
# No font has a glyph of this code point, which is no character.
_NO_CHARACTER = "\U0010ffff"
_CHECKED_SIZE = 16


def find_fonts(named: Sequence[str], characters: Sequence[str]) -> list[str]:
    """Returns the files of fonts that have all the characters, sorted.

    Args:
      named: files and folders; empty: the usual folders of the machine, or without a font there
        the one that Pillow brings, `EMBEDDED`.
      characters: characters that the fonts must have.

    Raises:
      DataError: a name does not exist, or no named font has all characters.
    """
    missing = [name for name in named if not Path(name).expanduser().exists()]
    if missing:
        raise DataError(f"--input.fonts {missing[0]} does not exist; give fonts or folders of them")
    files = sorted({file for name in named or _FOLDERS for file in _files(Path(name).expanduser())})
    usable = [file for file in files if _has(file, "".join(characters))]
    if usable or not named:
        return usable or [EMBEDDED]
    raise DataError(
        f"--input.fonts {listed(named)}: none of the {len(files)} fonts there"
        f" ({listed(_SUFFIXES)}) has all characters of --input.characters; give others"
    )


@functools.lru_cache(maxsize=1024)
def load_font(file: str, size: int) -> Any:
    """Returns a font of Pillow.

    Args:
      file: path of the font; `EMBEDDED` for the font that Pillow brings.
      size: in pixels.
    """
    return ImageFont.truetype(file, size) if file else ImageFont.load_default(size)


def _files(path: Path) -> Iterator[str]:
    if path.is_file():
        yield str(path)
    for folder, _, names in os.walk(path):
        yield from (str(Path(folder, name)) for name in names if name.lower().endswith(_SUFFIXES))


def _has(file: str, characters: str) -> bool:
    """Returns whether a font draws all characters, none of them as its sign for a missing glyph."""
    try:
        font = load_font(file, _CHECKED_SIZE)
        missing = bytes(font.getmask(_NO_CHARACTER))
        return all(bytes(font.getmask(char)) != missing for char in characters if char.strip())
    except OSError:
        return False  # No font, or one that FreeType cannot draw.
