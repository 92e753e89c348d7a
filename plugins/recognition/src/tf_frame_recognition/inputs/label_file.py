"""Reads a file of labels: an image of a word and its text in each line.

A line is one of

    photos/1.jpg Hello        the file, a tab or spaces, the text
    word_1.png, "Hello"       as the word recognition tasks of ICDAR have it
    ./3/1_Hello_34.jpg 34     as MJSynth has it, with --input.text_from name

Files are relative to the folder of the file of labels. Before a tab their names may have blanks;
blanks around a text are left out, unless the text stands in quotes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import BLANKS, existing_form, read_lines
from tf_frame_vision.reading.inside import name_inside, path_below

LINE = "line"
# https://rrc.cvc.uab.es, challenge 2, task 3: a comma behind the file, and quotes around the text.
_ICDAR = re.compile(r'(?P<file>[^,\t"]+),[ \t]*"(?P<text>.*)"')
_ESCAPED = re.compile(r'\\(["\\])')
_PLAIN = re.compile(
    r"(?P<file> *[^ \t][^\t]*)\t(?P<text>.*)|(?P<first>[^ \t]+)[ \t]*(?P<remainder>.*)"
)
_COMMA = re.compile(r"(?P<file>[^,]+\.[A-Za-z]+),(?P<text>.*)")


def read_label_file(
    root: Path, base: str, path: Path, params: Any
) -> tuple[dict[str, str], list[int]]:
    """Reads a file of labels.

    Args:
      root: the data folder.
      base: the folder below it that the names in the file begin at.
      path: the file of labels.
      params: `text_from` and `allow_outside`.

    Returns:
      The text of each file, by its path below the data folder; and the number of its line.

    Raises:
      DataError: the file cannot be read, has no line, or names an image twice or out of the folder.
    """
    texts, lines = dict[str, str](), list[int]()
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip(BLANKS):
            continue
        place = f"{path}, line {number}"
        name, text = _name_and_text(line, params.text_from)
        if not os.path.exists(root / base / name):
            name = name.lstrip(BLANKS)  # The line is indented.
        if params.text_from == LINE and not os.path.exists(root / base / name):
            _refuse_comma(name, place, line)
        name = name_inside(root, name, base=base, allow_outside=params.allow_outside, source=place)
        if not name.isascii():
            name = path_below(root, existing_form(root / name))
        if name in texts:
            raise DataError(f"{place} has {name} again; give each file one text")
        texts[name] = text
        lines.append(number)
    if not texts:
        raise DataError(f"{short(path)} has no line; it needs one such as: 1.jpg Hello")
    return texts, lines


def _refuse_comma(name: str, place: str, line: str) -> None:
    comma = _COMMA.fullmatch(line.strip(BLANKS))
    if comma and _COMMA.fullmatch(name):
        text = comma["text"].strip(f'{BLANKS}"')
        raise DataError(
            f"{place} is {brief(line)}, and a comma alone does not divide file and text; write a "
            "tab "
            f'instead, or quotes around the text: {comma["file"]}, "{text}"'
        )


def _name_and_text(line: str, text_from: str) -> tuple[str, str]:
    """Returns file and text of a line; the text may be empty."""
    icdar = _ICDAR.fullmatch(line.strip(BLANKS))
    if icdar:
        name, text = icdar["file"], _ESCAPED.sub(r"\1", icdar["text"])
    else:
        match = _PLAIN.fullmatch(line) or _PLAIN.fullmatch(line.strip(BLANKS))
        assert match, "a line that is not blank has a first word"
        name = match["file"] or match["first"]
        text = (match["text"] or match["remainder"] or "").strip(BLANKS)
    if text_from != LINE:
        _, _, tail = PurePosixPath(name.replace("\\", "/")).stem.partition("_")
        text = tail.partition("_")[0]
    return name, text
