"""Checks photographs against their image files, and makes splits of those that can be used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotations import Part
from tf_frame_detection.inputs.orientation import Headers, are_equal, find_turned, turn
from tf_frame_detection.inputs.photographs import Photographs, collect
from tf_frame_vision.example_input import Split
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.image_options import MAX_PIXELS

# Square pixels below which four corners enclose nothing: more than the error of float32.
LEAST_AREA = 0.01
_FAULTS = (
    "",
    "is inverted",
    "is empty",
    "its four corners enclose no area; give them in order around the object",
    "lies outside of the image of",
)


def make_splits(root: Path, parts: Sequence[Part], params: Any) -> list[Split]:
    """Checks the photographs of all parts, and makes a split of each.

    Only the headers of images are read; other damage shows when images are decoded.

    Args:
      root: the data folder.
      parts: photographs, and lines for records that their reader had to leave out.
      params: options `skip_corrupt`, `boxes_on` and `max_pixels`.

    Raises:
      DataError: something cannot be used and must not be left out, or nothing is left.
    """
    all_photographs = [collect(root, photographs) for photographs, _ in parts]
    max_pixels = getattr(params, "max_pixels", MAX_PIXELS)
    paths = [path for photographs in all_photographs for path in photographs.paths]
    results = scan_headers(root, paths, max_pixels=max_pixels)
    headers, start = [], 0
    for photographs in all_photographs:
        headers.append(Headers(results[start : start + len(photographs)]))
        start += len(photographs)
    are_turned = find_turned(all_photographs, headers, params.boxes_on)
    splits = []
    for (_, lines), photographs, header, is_turned in zip(
        parts, all_photographs, headers, are_turned, strict=True
    ):
        turned = turn(photographs, header, is_turned)
        faults = _find_faults(photographs, turned, header)
        damaged = [*lines, *(faults[place] for place in sorted(faults))]
        check_damage(damaged, skip_corrupt=params.skip_corrupt)
        keep = np.ones(len(turned), bool)
        keep[list(faults)] = False
        if not keep.any():
            example = f", such as for {damaged[0]}" if damaged else ""
            raise DataError(f"there is no photograph to use{example}")
        kept = turned.select(keep) if faults else turned
        splits.append(Split(len(kept), kept, damaged))
    return splits


def _find_faults(said: Photographs, photographs: Photographs, header: Headers) -> dict[int, Damage]:
    """Returns why photographs cannot be used, by their numbers.

    Args:
      said: photographs with the sizes of their annotations.
      photographs: the same with the sizes of the shown images.
    """
    faults = {}
    for place, problems in photographs.problems.items():
        record, _, reason = problems[0].partition(": ")
        faults[place] = Damage(f"{photographs.sources[place]}, {record}", reason)
    for place, reason in header.problems.items():
        where = f"{_path(photographs, place)}, of {photographs.sources[place]}"
        faults.setdefault(place, Damage(where, reason))
    wrong = (said.sizes > 0).all(1) & ~are_equal(said.sizes, header.shown)
    wrong &= ~are_equal(said.sizes, header.stored)
    for place in np.flatnonzero(wrong & header.can_be_read).tolist():
        faults.setdefault(place, _other_size(said, header, place))
    codes = _fault_codes(photographs)
    numbers = np.flatnonzero(codes)
    places = np.searchsorted(photographs.ends, numbers, side="right") - 1
    # The first object of each photograph.
    for place, first in zip(*np.unique(places, return_index=True), strict=True):
        number = int(numbers[first])
        where = f"{photographs.sources[place]}, {photographs.record(number)}"
        faults.setdefault(int(place), Damage(where, _describe(photographs, number, place, codes)))
    return faults


def _path(photographs: Photographs, place: int) -> Path:
    return photographs.root / photographs.paths[place]


def _other_size(said: Photographs, header: Headers, place: int) -> Damage:
    (height, width), (rows, columns) = said.sizes[place].tolist(), header.shown[place].tolist()
    return Damage(
        said.sources[place],
        f"it says that {_path(said, place)} is {height} x {width} pixels, but it is {rows} x "
        f"{columns}",
        "an image has another size than its annotation says",
    )


def _fault_codes(photographs: Photographs) -> Any:
    """Returns the number in `_FAULTS` of each object; 0: it can be used.

    A box may reach beyond the image, as annotators draw; its centre must lie in it.
    """
    upper, left, lower, right = photographs.boxes.T
    height, width = np.repeat(photographs.sizes, photographs.counts, axis=0).T
    has_no_area = np.zeros(len(upper), bool)
    if photographs.corners is not None:
        y1, x1, y2, x2, y3, x3, y4, x4 = photographs.corners.T
        area = abs((y3 - y1) * (x4 - x2) - (y4 - y2) * (x3 - x1)) / 2
        has_no_area = area < LEAST_AREA
    row, column = (upper + lower) / 2, (left + right) / 2
    is_inside = (row >= 0) & (row <= height) & (column >= 0) & (column <= width)
    faults = [
        (lower < upper) | (right < left),
        (lower == upper) | (right == left),
        has_no_area,
        ~is_inside,
    ]
    return np.select(faults, range(1, len(_FAULTS)), 0)


def _describe(photographs: Photographs, number: int, place: int, codes: Any) -> str:
    fault = _FAULTS[codes[number]]
    if fault.startswith("its"):
        return fault
    upper, left, lower, right = photographs.boxes[number].tolist()
    box = f"its box, rows {upper:g} to {lower:g} and columns {left:g} to {right:g}, {fault}"
    height, width = photographs.sizes[place].tolist()
    return f"{box} {height} x {width} pixels" if fault.endswith("of") else box
