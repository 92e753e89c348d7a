"""The input `coco_json`: images, and COCO's JSON files of instances.

data_dir/annotations/instances_train2017.json   images, annotations, categories
data_dir/annotations/instances_val2017.json     those to evaluate; may be missing
data_dir/train2017/..., data_dir/val2017/...    the images

Layouts of other programs: `tf_frame_vision.formats.coco_layout`; any other names by options. Of an
annotation `image_id`, `category_id`, `bbox` (left, upper, width, height) and `iscrowd` count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import FolderContent
from tf_frame_detection.inputs.photographs import Photographs
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.coco_data import CocoPart, read_coco
from tf_frame_vision.formats.coco_layout import CocoOptions
from tf_frame_vision.formats.record_fields import RecordError, parse_numbers

# Beyond it a number does not fit into float32; no image is as large.
_LARGEST_EDGE = 1e30


@dataclasses.dataclass(frozen=True)
class Params(CocoOptions, FolderOptions):
    """Options of the input."""


def read_coco_boxes(root: Path, params: Any) -> FolderContent:
    """Reads the JSON files of a folder.

    Raises:
      DataError: a file is missing or broken, or both have other categories.
    """
    data = read_coco(root, params, _parse_box, kind="coco")
    parts = [(_photographs(root, part), part.content.damaged) for part in data.parts]
    evaluation = parts[1] if len(parts) > 1 else None
    return FolderContent(data.names, parts[0], evaluation, data.notes, data.ids, splits=data.splits)


class CocoJson(AnnotatedFolder):
    """Images, and JSON files in COCO's format. Crowds are ignored."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.COCO,)
    what_to_do = "Give --input.data_dir the folder of the images and JSON files"
    read_folder = staticmethod(read_coco_boxes)


def _parse_box(annotation: Mapping[str, Any]) -> Any:
    """Returns upper, left, lower and right edge; see `coco_records.Parser`."""
    if "bbox" not in annotation:
        raise RecordError("it has no bbox")
    try:
        left, upper, width, height = annotation["bbox"]
        is_plain = abs(left) + abs(upper) + abs(width) + abs(height) < _LARGEST_EDGE
    except (TypeError, ValueError, OverflowError):
        is_plain = False
    if not is_plain:
        # Numbers as text, or faults.
        numbers = parse_numbers(annotation["bbox"], 4, "its bbox")
        left, upper, width, height = (
            min(max(value, -_LARGEST_EDGE), _LARGEST_EDGE) for value in numbers
        )
    return (upper, left, upper + height, left + width), b"", (0, 0)


def _photographs(root: Path, part: CocoPart) -> Photographs:
    content = part.content
    return Photographs(
        root=root,
        paths=part.paths,
        sources=[str(content.path)] * len(part.paths),
        sizes=content.sizes,
        are_shares=np.zeros(len(part.paths), bool),
        image_ids=content.image_ids,
        ends=content.ends,
        boxes=content.boxes,
        classes=part.classes,
        ignored=content.crowd,
        crowd=content.crowd,
        records=content.records,
        record_word="annotation",
        problems={place: (problem,) for place, problem in content.problems.items()},
    )
