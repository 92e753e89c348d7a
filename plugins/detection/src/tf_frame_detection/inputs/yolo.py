"""The input `yolo`: images, and label files of YOLO: boxes, rotated boxes or polygons.

data_dir/data.yaml                                 folders and classes; may be missing
data_dir/images/train/..., data_dir/labels/train/...   and val: Ultralytics
data_dir/train/images/..., data_dir/train/labels/...   and valid: Roboflow

More layouts and the format: `tf_frame_vision.formats.yolo_layout`, `yolo_labels`. Of polygons the
boxes around them count.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import FolderContent, Part
from tf_frame_detection.inputs.photographs import Photographs
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.yolo import YoloPart, read_yolo
from tf_frame_vision.formats.yolo_labels import OBB
from tf_frame_vision.formats.yolo_layout import YoloOptions
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.inside import path_below


@dataclasses.dataclass(frozen=True)
class Params(YoloOptions, FolderOptions):
    """Options of the input."""

    rotated: bool = option(False, "also yield rotated boxes, of YOLO-OBB")


def read_yolo_boxes(root: Path, params: Any) -> FolderContent:
    """Reads a data set; see `tf_frame_vision.formats.yolo.read_yolo`.

    Raises:
      DataError: the data cannot be read, or has no rotated boxes and these are asked for.
    """
    data = read_yolo(root, params)
    rotated = data.form == OBB
    if params.rotated and not rotated:
        raise DataError(
            f"{short(root)} has {data.form} and no rotated boxes of four points; leave out "
            "--input.rotated"
        )
    evaluation = None if data.evaluation is None else _part(root, data.evaluation, data.form)
    training = _part(root, data.training, data.form)
    return FolderContent(
        data.names, training, evaluation, data.notes, rotated=rotated, splits=data.splits
    )


class Yolo(AnnotatedFolder):
    """Images, and label files of YOLO."""

    Params: ClassVar[type] = Params
    formats = look_alikes.YOLO
    what_to_do = "Give --input.data_dir the folder with data.yaml, or with images and labels"
    read_folder = staticmethod(read_yolo_boxes)


def _part(root: Path, part: YoloPart, form: str) -> Part:
    count, objects = len(part.images), len(part.numbers)
    corners = part.values.reshape(-1, 4, 2)[..., ::-1].reshape(-1, 8) if form == OBB else None
    photographs = Photographs(
        root=root,
        paths=[path_below(root, path) for path in part.images],
        sources=part.labels,
        sizes=np.zeros([count, 2], np.int32),
        are_shares=np.ones(count, bool),
        image_ids=None,
        ends=part.ends.astype(np.int64),
        boxes=part.edges,
        classes=part.numbers,
        ignored=np.zeros(objects, bool),
        crowd=np.zeros(objects, bool),
        records=part.lines,
        record_word="line",
        corners=corners,
        problems=part.problems,
    )
    can_be_read = np.ones(count, bool)
    can_be_read[[*part.errors]] = False
    if part.errors:
        photographs = photographs.select(can_be_read)
    return photographs, [Damage(part.labels[place], error) for place, error in part.errors.items()]
