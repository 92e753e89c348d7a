"""Headers of the image files of a data folder: read once, in parallel, before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.scan import Problem, scan

_VERSION = 1


def scan_headers(root: Path, names: Sequence[str], *, max_pixels: int) -> list[Any]:
    """Returns `[stored height, stored width, orientation]` of each image, or a `Problem`.

    Args:
      root: the data folder.
      names: paths below it.
      max_pixels: see `image_header.read_header`.
    """

    def examine(path: Path) -> Any:
        try:
            header = read_header(path, max_pixels=max_pixels)
        except ImageError as error:
            return Problem(str(error))
        return header.stored_height, header.stored_width, header.orientation

    options = {"version": _VERSION, "max_pixels": max_pixels}
    return scan(root, names, examine, kind="headers", options=options)
