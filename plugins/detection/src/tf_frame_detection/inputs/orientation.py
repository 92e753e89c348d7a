"""Photographs that EXIF turns: the picture that their boxes are drawn on, and turns of boxes.

Annotations describe an image as programs show it, turned as its EXIF orientation says, or as it is
stored. Where the size says that it is as shown, or says nothing, boxes are of the shown image.
Where the size is that of the stored pixels, programs differ: Label Studio draws on the shown image,
and gives the stored size. Boxes that fit only one of the two decide for all photographs; without
any, `--input.boxes_on` must say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_detection.inputs.photographs import Photographs, boxes_fit
from tf_frame_vision.reading.orientation import UPRIGHT, turn_points
from tf_frame_vision.reading.scan import Problem

_SHOWN, _STORED = "shown", "stored"


@dataclasses.dataclass(frozen=True)
class OrientationOptions:
    """Option of inputs and converters of annotations of image files."""

    boxes_on: str = option(
        "",
        "the picture that boxes are drawn on where EXIF turns a photograph: shown, or stored; "
        "empty: the shown one, unless sizes and boxes are those of the stored one",
        choices=("", _SHOWN, _STORED),
    )


class Headers:
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


def find_turned(
    parts: Sequence[Photographs], headers: Sequence[Headers], boxes_on: str
) -> list[Any]:
    """Returns for each photograph of each part whether its boxes are of the stored pixels.

    Raises:
      DataError: nothing decides it.
    """
    sizes_are_stored = [
        are_equal(part.sizes, header.stored)
        & ~are_equal(part.sizes, header.shown)
        & header.can_be_read
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
    unclear: list[tuple[Photographs, Headers, int]] = []
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
    part: Photographs, header: Headers, place: int, count: int, *, differ: bool
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


def are_equal(sizes: Any, others: Any) -> Any:
    """Returns `[count]`, whether sizes, `[count, 2]`, are equal."""
    return (sizes == others).all(1)


def _says_shown(part: Photographs, header: Headers) -> Any:
    return are_equal(part.sizes, header.shown) & ~are_equal(part.sizes, header.stored)


def turn(photographs: Photographs, header: Headers, is_turned: Any) -> Photographs:
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
