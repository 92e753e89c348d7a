"""Draws annotated objects, polygons or run lengths, as masks: the class and object of each pixel.

Coordinates are columns and rows, 0 to width and 0 to height; the centre of the first pixel is at
0.5. Polygons are drawn by pycocotools, COCO's own tool. Objects that do not count are drawn first,
then the others one over another. Does not import TensorFlow.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tf_frame_deeplab.inputs.run_lengths import uncompressed
from tf_frame_vision.reading.orientation import UPRIGHT, turn_pixels

LATER, SMALLER = "later", "smaller"
# Sides of an image, beyond which points of polygons are moved nearer: pycocotools follows each
# edge in steps of a fifth of a pixel.
_REACH = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """An object, or a part of it.

    Attributes:
      number: its class; None: its pixels do not count.
      instance: number of the object, from 1 on; 0 for the background, and where nothing counts.
      polygons: `x, y` of each point of each polygon.
      runs: lengths of runs of pixels of the background and of the object, in turns, column by
        column, as COCO has them; used if there is no polygon.
      bitmap: row and column of the first pixel, and `[height, width]` bool; likewise.
    """

    number: int | None
    instance: int
    polygons: Sequence[Sequence[float]] = ()
    runs: Sequence[int] = ()
    bitmap: tuple[int, int, Any] | None = None


@dataclasses.dataclass(frozen=True)
class Canvas:
    """The picture that objects of an image are drawn on.

    Attributes:
      height, width: in pixels, as the annotator saw it.
      orientation: turn from there to the image as shown, of EXIF; `UPRIGHT`: none.
    """

    height: int
    width: int
    orientation: int = UPRIGHT


def draw(regions: Iterable[Region], canvas: Canvas, *, ignore_label: int, overlap: str) -> Any:
    """Returns `[height, width, 2]` int32, class and object of each pixel of the shown image.

    Pixels of no region are of class 0 and of object 0.

    Args:
      regions: the objects, in the order of their file.
      canvas: the picture.
      ignore_label: class of pixels that do not count.
      overlap: of two objects, `LATER`: the later one is seen, or `SMALLER`: the smaller one.
    """
    pixels = np.zeros([canvas.height, canvas.width, 2], np.int32)
    drawn = [(region, *_bitmap(region, canvas.height, canvas.width)) for region in regions]
    if overlap == SMALLER:
        drawn.sort(key=lambda row: -int(row[3].sum()))
    drawn.sort(key=lambda row: row[0].number is not None)
    for region, top, left, bitmap in drawn:
        window = pixels[top : top + bitmap.shape[0], left : left + bitmap.shape[1]]
        number = ignore_label if region.number is None else region.number
        window[bitmap] = (number, region.instance)
    return turn_pixels(pixels, canvas.orientation)


def _bitmap(region: Region, height: int, width: int) -> tuple[int, int, Any]:
    """Returns row and column of the first pixel, and `[height, width]` bool, within the image."""
    if region.polygons:
        return _draw_polygons(region.polygons, height, width)
    if region.bitmap is not None:
        return _cut(*region.bitmap, height, width)
    return 0, 0, _expanded(region.runs, height, width)


def _expanded(runs: Sequence[int], height: int, width: int) -> Any:
    is_object = np.arange(len(runs)) % 2 == 1
    return np.repeat(is_object, runs).reshape(width, height).T


def _draw_polygons(
    polygons: Sequence[Sequence[float]], height: int, width: int
) -> tuple[int, int, Any]:
    """Draws the union of polygons in the box around them, for time and memory."""
    from pycocotools import mask

    sides = np.array([width, height])
    points = [np.reshape(np.asarray(polygon, np.float64), [-1, 2]) for polygon in polygons]
    points = [ring.clip(-_REACH * sides, (1 + _REACH) * sides) for ring in points]
    every_point = np.concatenate(points)
    left, top = np.floor(every_point.min(0)).clip(0, sides).astype(int).tolist()
    right, bottom = np.ceil(every_point.max(0) + 1).clip(0, sides).astype(int).tolist()
    if right <= left or bottom <= top:
        return 0, 0, np.zeros([0, 0], bool)
    moved = [(ring - (left, top)).ravel().tolist() for ring in points]
    size = bottom - top, right - left
    merged = mask.merge(mask.frPyObjects(moved, *size))
    # Its own decoder relies on a conversion that NumPy gives up.
    return top, left, _expanded(uncompressed(merged["counts"].decode()), *size)


def _cut(top: int, left: int, bitmap: Any, height: int, width: int) -> tuple[int, int, Any]:
    bitmap = bitmap[max(0, -top) : max(0, height - top), max(0, -left) : max(0, width - left)]
    return max(0, top), max(0, left), bitmap


def circle(x: float, y: float, radius: float) -> list[float]:
    """Returns the points of a circle, one for each pixel of its length."""
    count = min(max(16, math.ceil(2 * math.pi * radius)), 1000)
    angles = np.arange(count) * (2 * math.pi / count)
    columns, rows = x + radius * np.cos(angles), y + radius * np.sin(angles)
    points: list[float] = np.stack([columns, rows], 1).ravel().tolist()
    return points
