"""Run lengths of COCO (RLE): pixels of the background and of an object in turns, by columns.

Does not import TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf_frame.text import brief
from tf_frame.text_file import parse_integer

# Five bits of a number in each character, from the character `0` on; then a bit that says that
# more follow. cocodataset/cocoapi, common/maskApi.c, `rleFrString`.
_BITS, _FIRST, _MORE, _SIGN = 5, ord("0"), 32, 16
_LONGEST = 7


def parse_runs(segmentation: Any) -> tuple[list[int], tuple[int, int]]:
    """Returns the lengths of runs, and height and width, of `{"counts": ..., "size": ...}`.

    Raises:
      ValueError: says why they are no run lengths of an image of this size.
    """
    try:
        height, width = map(parse_integer, segmentation["size"])
        counts = segmentation["counts"]
    except (KeyError, TypeError, ValueError):
        raise ValueError("its run lengths have no counts, or no size of two numbers") from None
    runs = uncompressed(counts) if isinstance(counts, str) else _whole(counts)
    if min(runs, default=0) < 0 or sum(runs) != height * width:
        raise ValueError(f"its run lengths do not add up to {height} x {width} pixels")
    return runs, (height, width)


def _whole(counts: Any) -> list[int]:
    if not isinstance(counts, list):
        raise ValueError("the counts of its run lengths are neither a text nor a list")
    try:
        return [*map(parse_integer, counts)]
    except ValueError as error:
        raise ValueError(f"its run lengths: {error}") from None


def uncompressed(text: str) -> list[int]:
    """Returns the lengths of runs in COCO's text.

    Raises:
      ValueError: says why it is none.
    """
    runs: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - _FIRST
        if not 0 <= bits < 2 * _MORE or shift > _LONGEST * _BITS:
            raise ValueError(
                f"its run lengths have the character {brief(character)} at a wrong place"
            )
        value |= (bits & (_MORE - 1)) << shift
        shift += _BITS
        if bits & _MORE:
            continue
        if bits & _SIGN:
            value -= 1 << shift
        # From the fourth on, differences to the run before the last.
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value = shift = 0
    if shift:
        raise ValueError("its run lengths end within a number")
    return runs


def parse_polygons(segmentation: Any) -> Sequence[Sequence[float]]:
    """Returns the points of polygons, `[[x, y, ...], ...]`.

    Raises:
      ValueError: says why they are none.
    """
    try:
        polygons = [[float(value) for value in polygon] for polygon in segmentation]
    except (TypeError, ValueError, OverflowError):
        raise ValueError("its segmentation is no list of lists of numbers") from None
    for polygon in polygons:
        if len(polygon) < 6 or len(polygon) % 2:
            raise ValueError(f"a polygon has {len(polygon)} numbers instead of 6, 8, 10 ...")
    return polygons
