"""Checks photographs against their image files, and makes splits of those that can be used."""

from __future__ import annotations

import dataclasses
import itertools
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotations import (
    Photograph,
    Size,
    mark_problem,
    reaches_beyond,
    scaled,
)
from tf_frame_vision.example_input import Split
from tf_frame_vision.reading.folders import held_out

_UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)
Part = tuple[Sequence[Photograph], Sequence[str]]


def check_photographs(photographs: Sequence[Photograph]) -> tuple[list[Photograph], list[str]]:
    """Leaves out images that cannot be read, and images with an object that cannot be used.

    Only the headers of images are read; other damage shows when images are decoded.

    Returns:
      The photographs that can be used, with their sizes, and a line for each that cannot.
    """
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(_checked, photographs))
    kept = [photograph for photograph, _ in results if photograph]
    return kept, list(itertools.chain.from_iterable(problems for _, problems in results))


def make_split(part: Part, *, skip_corrupt: bool) -> Split:
    """Checks the photographs of a part, and makes a split of them.

    Args:
      part: photographs, and lines for records that their reader had to leave out.
      skip_corrupt: whether to leave out and count photographs that cannot be used.

    Raises:
      DataError: something cannot be used and must not be left out, or nothing is left.
    """
    photographs, problems = part
    kept, more = check_photographs(photographs)
    damaged = [*problems, *more]
    if damaged and not skip_corrupt:
        more_text = f" ({len(damaged) - 1} more like this)" if len(damaged) > 1 else ""
        raise DataError(f"{damaged[0]}{more_text}; mend it, or give --input.skip_corrupt")
    if not kept:
        raise DataError(
            f"there is no photograph to use{f', such as for {damaged[0]}' if damaged else ''}"
        )
    return Split(len(kept), kept, damaged)


def divide(photographs: Sequence[Photograph], fraction: float) -> tuple[Any, Any]:
    """Divides photographs into those to train on and those that are held out by their names."""
    chosen = held_out([photograph.path.name for photograph in photographs], fraction)
    training = [one for one in photographs if one.path.name not in chosen]
    return training, [one for one in photographs if one.path.name in chosen]


def count_beyond(photographs: Iterable[Photograph]) -> int:
    """Returns the number of boxes that reach more than a pixel beyond their image."""
    return sum(
        reaches_beyond(mark, photograph.size)
        for photograph in photographs
        if photograph.size
        for mark in photograph.marks
    )


def make_fields(
    photographs: Sequence[Photograph], root: Path, *, with_corners: bool
) -> tuple[list[str], dict[str, Any]]:
    """Returns paths below a folder, and ragged tensors of the objects.

    Args:
      with_corners: whether there is a field `corners`.

    Returns:
      A path each, and `boxes`, `classes`, `ignored`, `crowd` and perhaps `corners`,
      `[len(photographs), None, ...]` each; and `image_id`, `[len(photographs)]`, if all have one.
    """
    import numpy as np

    from tf_frame_vision.reading import arrays

    marks = [mark for photograph in photographs for mark in photograph.marks]
    counts = (len(one.marks) for one in photographs)
    splits = np.array([*itertools.accumulate(counts, initial=0)], np.int64)

    def ragged(values: list[Any], kind: Any, *inner: int) -> Any:
        return arrays.ragged(np.array(values, kind).reshape([-1, *inner]), splits)

    fields = {
        "boxes": ragged([mark.box for mark in marks], np.float32, 4),
        "classes": ragged([mark.number for mark in marks], np.int32),
        "ignored": ragged([mark.ignored for mark in marks], np.bool_),
        "crowd": ragged([mark.crowd for mark in marks], np.bool_),
    }
    if with_corners:
        fields["corners"] = ragged([mark.four_corners for mark in marks], np.float32, 4, 2)
    ids = [one.image_id for one in photographs if one.image_id is not None]
    if len(ids) == len(photographs):
        fields["image_id"] = arrays.integers(ids)
    return [os.path.relpath(photograph.path, root) for photograph in photographs], fields


def _checked(photograph: Photograph) -> tuple[Photograph | None, list[str]]:
    try:
        size = _size(photograph.path)
    except _UNREADABLE as error:
        return None, [f"{photograph.path}, of {photograph.source}, {_reason(error)}"]
    if photograph.size not in (None, size):
        height, width = photograph.size or size
        return None, [
            f"{photograph.source} says that {photograph.path} is {height} x {width} pixels, but it "
            f"is {size[0]} x {size[1]}"
        ]
    problems, marks = list(photograph.problems), photograph.marks
    if photograph.in_shares:
        marks = [scaled(mark, size) for mark in marks]
    for mark in marks:
        problem = mark_problem(mark, size)
        if problem:
            problems.append(f"{mark.record}: {problem}")
    if problems:
        return None, [f"{photograph.source}, {problems[0]}"]
    return dataclasses.replace(photograph, marks=marks, size=size, in_shares=False), []


def _size(path: Path) -> Size:
    with Image.open(path) as image:
        width, height = image.size
    return height, width


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "is missing"
    if isinstance(error, UnidentifiedImageError):
        return "cannot be read: it is no image"
    return f"cannot be read: {getattr(error, 'strerror', None) or error or type(error).__name__}"
