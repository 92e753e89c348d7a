"""Headers of the image files of a data folder: read once, in parallel, before the first step."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame_vision.reading.image_header import read_header
from tf_frame_vision.reading.scan import scan


def scan_headers(root: Path, names: Sequence[str], *, max_pixels: int) -> list[Any]:
    """Returns `[stored height, stored width, orientation]` of each image, or a `scan.Problem`.

    Args:
      root: the data folder.
      names: paths below it.
      max_pixels: see `image_header.read_header`.
    """
    examine = functools.partial(_examine, max_pixels=max_pixels)
    return scan(root, names, examine, kind="headers", options=max_pixels)


def _examine(path: Path, max_pixels: int) -> tuple[int, int, int]:
    header = read_header(path, max_pixels=max_pixels)
    return header.stored_height, header.stored_width, header.orientation
