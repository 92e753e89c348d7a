"""Fits text to the width of the terminal, in cells: a wide character of East Asia takes two.

wrapped("a long sentence", 40, first="  1. ", rest="     ")   # lines of at most 40 cells
fit_page(usage)                                               # a help text, wrapped anew
"""

from __future__ import annotations

import itertools
import re
import shutil
import unicodedata
from collections.abc import Iterator

# Cells that a text needs beside a word that it explains; else it stands below the word.
_LEAST_HANGING = 24
_WORD = re.compile(r"(\s*)(\S+)")
# Lists without spaces may be broken: a|b, and a,b and a:b, but not 1,000.
_IN_WORD = re.compile(r"(?<=\|)|(?<=[,:])(?=[A-Za-z_*])")
_BOLD_OR_PLAIN = re.compile("\033\\[[0-9;]*m")
# The explanation of a word begins after it and at least two spaces.
_EXPLANATION = re.compile(r"(?<=\S)\s{2,}(?=\S)")


def terminal_width() -> int:
    """Returns the columns of the terminal, or COLUMNS; 80 where neither is known."""
    return shutil.get_terminal_size().columns


def cell_width(text: str) -> int:
    """Returns the number of cells that a text takes on a terminal."""
    text = _BOLD_OR_PLAIN.sub("", text) if "\033" in text else text
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut_to_width(text: str, width: int) -> str:
    """Returns the beginning of a text that takes at most `width` cells."""
    ends = itertools.accumulate(map(_cells, text))
    return text[: sum(end <= width for end in ends)]


def wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Returns the lines of a text; a word that is longer than a line stays whole.

    Args:
      text: the text; line ends count as spaces.
      width: cells of a line, the indents included.
      first: text before the first line.
      rest: text before the other lines.
    """
    lines, line, is_empty = [], first, True
    for gap, part in _parts(text.strip()):
        if not is_empty and cell_width(line + gap + part) > width:
            lines.append(line)
            line, gap = rest, ""
        line, is_empty = line + gap + part, False
    return [*lines, line]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yields the parts of a text between which a line may end, each after its spaces."""
    for spaces, word in _WORD.findall(text):
        first, *others = filter(None, _IN_WORD.split(word))
        yield " " * len(spaces), first
        yield from (("", part) for part in others)


def fit_page(page: str) -> str:
    """Returns a help text or a docstring with its paragraphs and rows fitted to the terminal.

    Lines without an indent are a paragraph. A row is a word and, after two spaces or more, its
    explanation; further lines of the explanation have the same indent. Every other line that is
    too long goes on below, with a deeper indent.
    """
    width = terminal_width()
    lines: list[str] = []
    block: list[str] = []
    hang = 0
    for line in page.split("\n"):
        indent = len(line) - len(line.lstrip())
        is_row = _EXPLANATION.search(line) is not None
        goes_on = line.strip() and not is_row and block and indent == hang
        if not goes_on:
            lines += _fit_block(block, width)
            block = []
        if not line.strip():
            lines.append("")
            continue
        if not block:
            hang = _hang(line)
        block.append(line)
    return "\n".join(lines + _fit_block(block, width))


def _hang(line: str) -> int:
    """Returns the indent of lines that go on with this one; -1 if none does."""
    rows = list(_EXPLANATION.finditer(line))
    if rows:
        return rows[-1].end()
    return -1 if line.startswith(" ") else 0


def _fit_block(block: list[str], width: int) -> list[str]:
    if not block:
        return []
    if len(block) == 1 and cell_width(block[0]) <= width:
        return block
    first, hang = block[0], _hang(block[0])
    indent = len(first) - len(first.lstrip())
    if hang <= 0:
        rest = " " * (indent + 2 if indent else 0)
        return wrapped(" ".join(block), width, first=" " * indent, rest=rest)
    text = " ".join([first[hang:], *map(str.strip, block[1:])])
    if width - hang >= _LEAST_HANGING:
        return wrapped(text, width, first=first[:hang], rest=" " * hang)
    below = " " * (indent + 4)
    return [first[:hang].rstrip(), *wrapped(text, width, first=below, rest=below)]
