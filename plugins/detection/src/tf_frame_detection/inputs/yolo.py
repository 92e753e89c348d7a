"""The input `yolo`: images, and label files of YOLO: boxes, rotated boxes or polygons.

data_dir/data.yaml                                 folders and classes; may be missing
data_dir/images/train/..., data_dir/labels/train/...   and val: Ultralytics
data_dir/train/images/..., data_dir/train/labels/...   and valid: Roboflow

More layouts and the format: `tf_frame_vision.formats.yolo_layout`, `yolo_labels`. Of polygons the
boxes around them count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import Marked, Photograph
from tf_frame_detection.inputs.photographs import Part
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.yolo import YoloData, YoloImage, read_yolo
from tf_frame_vision.formats.yolo_labels import OBB, YoloObject
from tf_frame_vision.formats.yolo_layout import YoloOptions

_WHAT_TO_DO = "Give --input.data_dir the folder with data.yaml, or with images and labels"


@dataclasses.dataclass(frozen=True)
class Params(YoloOptions, FolderOptions):
    """Options of the input."""

    rotated: bool = option(False, "also yield rotated boxes, of YOLO-OBB")


class Yolo(AnnotatedFolder):
    """Images, and label files of YOLO."""

    Params: ClassVar[type] = Params
    formats = look_alikes.YOLO

    def find(self) -> None:
        params = self.params
        data = read_yolo(
            self.existing(_WHAT_TO_DO),
            params,
            eval_split=params.eval_split,
            outside=params.allow_outside,
        )
        if params.rotated and data.form != OBB:
            raise DataError(
                f"{self.root} has {data.form} and no rotated boxes of four points; leave out "
                "--input.rotated"
            )
        self.remarks = data.notes
        self.use(data.names, *yolo_parts(data))


def yolo_parts(data: YoloData) -> tuple[Part, Part | None]:
    """Returns the photographs to train on, and those to evaluate: None without such a part."""
    evaluation = None if data.evaluation is None else _part(data.evaluation, data.form)
    return _part(data.training, data.form), evaluation


def _part(images: Sequence[YoloImage], form: str) -> Part:
    photographs = [
        Photograph(
            image.path,
            str(image.labels),
            [_mark(each, form) for each in image.objects],
            problems=image.problems,
            in_shares=True,
        )
        for image in images
        if not image.error
    ]
    return photographs, [image.error for image in images if image.error]


def _mark(each: YoloObject, form: str) -> Marked:
    corners: tuple[float, ...] = ()
    if form == OBB:
        xs, ys = each.values[::2], each.values[1::2]
        corners = tuple(value for pair in zip(ys, xs, strict=True) for value in pair)
    return Marked(each.edges, each.number, f"line {each.line}", corners=corners)
