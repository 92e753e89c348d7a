"""Checks photographs against their image files, and makes splits of those that can be used.

Annotations describe an image as programs show it, turned as its EXIF orientation says, or as it is
stored. Where the size says that it is as shown, or says nothing, boxes are of the shown image.
Where the size is that of the stored pixels, programs differ: Label Studio draws on the shown image,
and gives the stored size. Boxes that fit only one of the two decide for all photographs; without
any, `--input.boxes_on` must say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotations import Part
from tf_frame_detection.inputs.photographs import Photographs, boxes_fit, collect
from tf_frame_vision.example_input import Split
from tf_frame_vision.reading.damage import Damage, check_damage
from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.image_options import MAX_PIXELS
from tf_frame_vision.reading.orientation import UPRIGHT, turn_points
from tf_frame_vision.reading.scan import Problem

# Square pixels below which four corners enclose nothing: more than the error of float32.
LEAST_AREA = 0.01
_SHOWN, _STORED = "shown", "stored"
_FAULTS = (
    "",
    "is inverted",
    "is empty",
    "its four corners enclose no area; give them in order around the object",
    "lies outside of the image of",
)


@dataclasses.dataclass(frozen=True)
class OrientationOptions:
    """Option of inputs and converters of annotations of image files."""

    boxes_on: str = option(
        "",
        "the picture that boxes are drawn on where EXIF turns a photograph: shown, or stored; "
        "empty: the shown one, unless sizes and boxes are those of the stored one",
        choices=("", _SHOWN, _STORED),
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
        headers.append(_Headers(results[start : start + len(photographs)]))
        start += len(photographs)
    are_turned = _are_turned(all_photographs, headers, params.boxes_on)
    splits = []
    for (_, lines), photographs, header, is_turned in zip(
        parts, all_photographs, headers, are_turned, strict=True
    ):
        turned = _turn(photographs, header, is_turned)
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


class _Headers:
    """Sizes and orientations of the images of photographs.

    Args:
      results: of `scan_headers`.

    Attributes:
      shown, stored: `[count, 2]`, height and width.
      orientations: `[count]`, of EXIF.
      problems: number of a photograph -> why its image cannot be used.
    """

    def __init__(self, results: Sequence[Any]) -> None:
        self.problems = {
            place: result.reason
            for place, result in enumerate(results)
            if isinstance(result, Problem)
        }
        unknown = [1, 1, UPRIGHT]
        facts = [unknown if isinstance(result, Problem) else result for result in results]
        columns = np.array(facts, np.int64).reshape(-1, 3)
        self.stored, self.orientations = columns[:, :2], columns[:, 2]
        exchanged = self.orientations[:, np.newaxis] > 4
        self.shown = np.where(exchanged, self.stored[:, ::-1], self.stored)
        self.can_be_read = np.ones(len(results), bool)
        self.can_be_read[list(self.problems)] = False


def _are_turned(
    parts: Sequence[Photographs], headers: Sequence[_Headers], boxes_on: str
) -> list[Any]:
    """Returns for each photograph of each part whether its boxes are of the stored pixels.

    Raises:
      DataError: nothing decides it.
    """
    sizes_are_stored = [
        _equal(part.sizes, header.stored) & ~_equal(part.sizes, header.shown) & header.can_be_read
        for part, header in zip(parts, headers, strict=True)
    ]
    if boxes_on == _STORED:
        return [
            are_stored | ((header.orientations != UPRIGHT) & ~_says_shown(part, header))
            for part, header, are_stored in zip(parts, headers, sizes_are_stored, strict=True)
        ]
    nothing = [np.zeros(len(part), bool) for part in parts]
    if boxes_on == _SHOWN:
        return nothing
    only_shown = only_stored = False
    unclear: list[tuple[Photographs, _Headers, int]] = []
    for part, header, are_stored in zip(parts, headers, sizes_are_stored, strict=True):
        asked = np.repeat(are_stored, part.counts)
        fit_shown, fit_stored = (boxes_fit(part, size) for size in (header.shown, header.stored))
        only_shown |= bool((asked & fit_shown & ~fit_stored).any())
        only_stored |= bool((asked & fit_stored & ~fit_shown).any())
        places = np.flatnonzero(are_stored & (part.counts > 0))
        unclear += [(part, header, place) for place in places.tolist()]
    if unclear and only_shown == only_stored:
        raise DataError(_explain_unclear(*unclear[0], len(unclear), differ=only_shown))
    return sizes_are_stored if only_stored else nothing


def _explain_unclear(
    part: Photographs, header: _Headers, place: int, count: int, *, differ: bool
) -> str:
    (height, width), (rows, columns) = header.stored[place].tolist(), header.shown[place].tolist()
    why = "some boxes fit only the one, and some only the other" if differ else "all boxes fit both"
    return (
        f"{part.sources[place]} says that {part.root / part.paths[place]} is {height} x {width} "
        f"pixels, as it is stored, but programs show it turned, {rows} x {columns} ({count} such "
        f"photographs); {why}, so give --input.boxes_on shown if the program that the boxes were "
        "drawn in showed the photographs turned, as Label Studio does, or --input.boxes_on stored "
        "if it showed them as they are stored"
    )


def _equal(sizes: Any, others: Any) -> Any:
    return (sizes == others).all(1)


def _says_shown(part: Photographs, header: _Headers) -> Any:
    return _equal(part.sizes, header.shown) & ~_equal(part.sizes, header.stored)


def _turn(photographs: Photographs, header: _Headers, is_turned: Any) -> Photographs:
    """Returns photographs with boxes in pixels of the shown images, and the sizes of these."""
    boxes, corners = photographs.boxes, photographs.corners
    if is_turned.any() or photographs.are_shares.any():
        # Shares are of the picture that the boxes are drawn on.
        sizes = np.where(is_turned[:, np.newaxis], header.stored, header.shown)
        scale = np.where(photographs.are_shares[:, np.newaxis], sizes, 1).astype(np.float32)
        scale = np.repeat(scale, photographs.counts, axis=0)
        boxes = boxes * np.tile(scale, 2)
        corners = None if corners is None else corners * np.tile(scale, 4)
    for place in np.flatnonzero(is_turned).tolist():
        rows = slice(*photographs.ends[place : place + 2].tolist())
        turn = (int(header.orientations[place]), tuple(header.stored[place].tolist()))
        boxes[rows] = _turned_boxes(boxes[rows], *turn)
        if corners is not None:
            corners[rows] = _turned_points(corners[rows], *turn)
    return dataclasses.replace(
        photographs,
        sizes=header.shown.astype(np.int32),
        are_shares=np.zeros(len(photographs), bool),
        boxes=boxes,
        corners=corners,
    )


def _turned_boxes(boxes: Any, orientation: int, stored_size: Any) -> Any:
    points = _turned_points(boxes, orientation, stored_size).reshape(-1, 2, 2)
    return np.concatenate([points.min(1), points.max(1)], 1)


def _turned_points(points: Any, orientation: int, stored_size: Any) -> Any:
    """Turns `[count, ...]` pairs of row and column."""
    pairs = points.reshape(-1, 2)[:, ::-1]
    return turn_points(pairs, orientation, stored_size)[:, ::-1].reshape(points.shape)


def _find_faults(
    said: Photographs, photographs: Photographs, header: _Headers
) -> dict[int, Damage]:
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
    wrong = (said.sizes > 0).all(1) & ~_equal(said.sizes, header.shown)
    wrong &= ~_equal(said.sizes, header.stored)
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


def _other_size(said: Photographs, header: _Headers, place: int) -> Damage:
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
