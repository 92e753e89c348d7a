"""The input `detection_tfrecord`: TFRecord files with the object detection API's keys.

data_dir/train-00000-of-00004 ...   records to train on, perhaps gzipped
data_dir/val-00000-of-00004 ...     records to evaluate; may be missing
data_dir/label_map.pbtxt            ids and names of the classes

`tf-frame convert` makes them, and so do the API's own scripts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import DataWarning, Mode, option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_detection.inputs.annotated_images import (
    INPUTS,
    AnnotatedImages,
    AnnotatedOptions,
    count_objects,
)
from tf_frame_detection.inputs.box_faults import box_warnings
from tf_frame_detection.inputs.label_map import FILE, read_label_map
from tf_frame_detection.inputs.record_marks import MarkReader
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.reading.folders import SplitOptions
from tf_frame_vision.record_splits import record_content, record_splits


@dataclasses.dataclass(frozen=True)
class Params(SplitOptions, AnnotatedOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the TFRecord files; must be given")
    classes: str = option(
        "", f"label map, or a file with a class in each line; empty: {FILE} of data_dir"
    )
    train_pattern: tuple[str, ...] = option(
        ("train-*", "*train*.record*", "train*.tfrecord*"),
        "names of the files to train on; the first pattern that fits any counts",
    )
    eval_pattern: tuple[str, ...] = option(
        ("val-*", "validation-*", "valid-*", "dev-*", "*val*.record*", "val*.tfrecord*"),
        "names of the files to evaluate, likewise",
    )
    ignore_difficult: bool = option(True, "whether difficult objects are neither right nor wrong")
    rotated: bool = option(False, "also yield rotated boxes, of corners in the records")


class DetectionTfrecord(AnnotatedImages):
    """Images and boxes in TFRecord files with the object detection API's keys."""

    Params: ClassVar[type] = Params
    _box_warnings: Sequence[DataWarning] = ()

    def find(self) -> None:
        with naming_look_alikes(self.params.data_dir, INPUTS, ()):
            folder, training, evaluation, self.parts = record_splits(self.params)
        file = self.params.classes
        path = Path(file).expanduser() if file else folder / FILE
        if not path.exists():
            raise DataError(
                f"{short(path)} is missing; write it, or give --input.classes a file with the "
                "name of a class in each line"
            )
        classes = read_label_map(path)
        self.class_ids, self.class_names = list(classes), list(classes.values())
        self.splits = {Mode.TRAIN: training, Mode.EVAL: evaluation, Mode.PREDICT: evaluation}

    def content(self, split: Split) -> SplitContent:
        reader = MarkReader(self.class_ids, self.class_names, self.params.ignore_difficult)
        facts, photographs = reader.read(split.content, max_pixels=self.params.max_pixels)
        if split is self.splits[Mode.TRAIN]:
            self._box_warnings = tuple(box_warnings(photographs))
        return record_content(split, facts, count_objects(photographs, self.class_names))

    def data_warnings(self, training: SplitContent) -> Sequence[DataWarning]:
        return self._box_warnings

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_detection.inputs.detection_records import record_format
        from tf_frame_vision.reading.records import record_examples

        form = record_format(
            self.class_ids,
            self.class_names,
            ignore_difficult=self.params.ignore_difficult,
            rotated=self.rotated,
        )
        return record_examples(split.content, order, form, self.params)

    def checked(self, example: Any) -> Any:
        """Returns an example with boxes in pixels; finds those that cannot be used."""
        from tf_frame_detection.inputs.detection_records import in_pixels

        return in_pixels(example)
