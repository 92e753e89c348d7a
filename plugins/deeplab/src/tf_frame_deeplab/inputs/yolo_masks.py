"""The input `yolo_masks`: images, and polygons of YOLO-seg, which are drawn as masks.

Layouts and label files as for detection's input `yolo`:
`tf_frame_vision.formats.yolo_layout`, `yolo_labels`. Where objects overlap, the smaller one is
seen, as in Ultralytics' masks. Lines of four points are polygons here.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_deeplab.inputs.drawn_data import (
    DrawnData,
    DrawnImage,
    Size,
    YoloOverlapOptions,
    with_background,
)
from tf_frame_deeplab.inputs.drawn_masks import DrawnMasks, DrawnOptions
from tf_frame_deeplab.inputs.regions import Region
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.yolo import YoloPart, read_yolo
from tf_frame_vision.formats.yolo_labels import BOXES, read_labels
from tf_frame_vision.formats.yolo_layout import YoloOptions

_BOX = 4


@dataclasses.dataclass(frozen=True)
class Params(YoloOverlapOptions, YoloOptions, DrawnOptions):
    """Options of the input."""


def read_yolo_masks(root: Path, params: Any) -> DrawnData:
    """Reads a data set; see `tf_frame_vision.formats.yolo.read_yolo`.

    Raises:
      DataError: the data cannot be read, or has boxes and no polygons.
    """
    data = read_yolo(root, params)
    if data.form == BOXES:
        raise DataError(
            f"{short(root)} has YOLO's boxes and no polygons, so there is nothing to draw; boxes "
            "are for --plugin detection --input yolo"
        )
    names, numbers = with_background(data.names)

    def regions(labels: Path, size: Size) -> list[Region]:
        rows = read_labels(labels, data.keypoints) if labels.exists() else []
        return [
            Region(numbers[row[1]], place if numbers[row[1]] else 0, [_outline(row[2], size)])
            for place, row in enumerate(rows, 1)
        ]

    evaluation = None if data.evaluation is None else _images(data.evaluation)
    training = _images(data.training)
    return DrawnData(
        names, training, evaluation, regions, data.notes, in_shares=True, splits=data.splits
    )


class YoloMasks(DrawnMasks):
    """Images, and polygons of YOLO-seg."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.SEGMENTS, look_alikes.OBB)
    what_to_do = "Give --input.data_dir the folder with data.yaml, or with images and labels"
    read_folder = staticmethod(read_yolo_masks)


def _outline(shares: Sequence[float], size: Size) -> list[float]:
    return [share * side for share, side in zip(shares, itertools.cycle(size[::-1]), strict=False)]


def _images(part: YoloPart) -> list[DrawnImage]:
    problems = {place: [*lines] for place, lines in part.problems.items()}
    for number in np.flatnonzero(part.counts == _BOX).tolist():
        line = f"line {part.lines[number]}: it is a box, and no polygon"
        problems.setdefault(part.image(number), []).append(line)
    edges, images = part.edges, []
    for place, (image, labels) in enumerate(zip(part.images, part.labels, strict=True)):
        objects = slice(*part.ends[place : place + 2].tolist())
        images.append(
            DrawnImage(
                Path(image),
                labels,
                Path(labels),
                problems=problems.get(place, ()),
                error=part.errors.get(place, ""),
                boxes=edges[objects],
                records=part.lines[objects],
            )
        )
    return images
