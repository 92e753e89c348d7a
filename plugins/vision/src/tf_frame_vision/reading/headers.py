"""Headers of the image files of a data folder: read once, in parallel, before the first step.

A file that was cut is found, too: a copy that was interrupted would else end a run at its step, or
in the evaluation after the last one.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from tf_frame_vision.reading.image_header import open_image
from tf_frame_vision.reading.scan import scan

# Some programs write a few bytes behind the mark.
_END_BYTES = 4096
# ITU-T T.81, B.1.1.3; PNG specification, 11.2.5.
_END_MARKS = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}


def scan_headers(root: Path, names: Sequence[str], *, max_pixels: int) -> list[Any]:
    """Returns `[stored height, stored width, orientation]` of each image, or a `scan.Problem`.

    Args:
      root: the data folder.
      names: paths below it.
      max_pixels: see `image_header.read_header`.
    """
    examine = functools.partial(_examine, max_pixels=max_pixels)
    return scan(root, names, examine, kind="headers", options=[max_pixels, "ends"])


def _examine(path: Path, max_pixels: int) -> tuple[int, int, int]:
    with open_image(path, max_pixels=max_pixels) as (image, header):
        if _may_be_cut(image.fp, header.format):
            image.load()
    return header.stored_height, header.stored_width, header.orientation


def _may_be_cut(file: IO[bytes], form: str) -> bool:
    """Returns whether a file lacks the mark of its end, as one that was cut does.

    One with much behind the mark seems to lack it, too: its pixels have to be decoded.
    """
    if form not in _END_MARKS:
        return False
    position = file.tell()
    file.seek(-min(_END_BYTES, file.seek(0, os.SEEK_END)), os.SEEK_END)
    end = file.read()
    file.seek(position)
    return _END_MARKS[form] not in end
