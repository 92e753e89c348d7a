"""The input `image_tfrecord`: TFRecord files of images, as slim and ImageNet's scripts write them.

Data sets that were converted for slim's trainers are read as they are.

data_dir/train-00000-of-01024 ...        records to train on
data_dir/validation-00000-of-00128 ...   records to evaluate; may be missing
data_dir/labels.txt                      names of the classes, `0:daisy`, one a line
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import BLANKS, read_lines
from tf_frame_classification.inputs.labelled_images import (
    LABEL,
    LabelledImageOptions,
    LabelledImages,
)
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split
from tf_frame_vision.reading.folders import SplitOptions
from tf_frame_vision.reading.record_facts import Values, read_record_facts
from tf_frame_vision.record_splits import record_content, record_splits

_LABEL_FILE = "labels.txt"
_LABEL = re.compile(r"[ \t]*[0-9]{1,6}[ \t]*")
# Names of ImageNet, then of flowers, then of MNIST and CIFAR-10 (slim, datasets/).
_TRAINING = ("train-*", "*_train_*.tfrecord", "*_train.tfrecord", "*_train*.tfrecord.gz")
_EVALUATION = (
    *("validation-*", "*_validation_*.tfrecord", "*_validation.tfrecord"),
    *("*_validation*.tfrecord.gz", "val-*", "valid-*", "dev-*"),
)


@dataclasses.dataclass(frozen=True)
class Params(SplitOptions, LabelledImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the TFRecord files; must be given")
    train_pattern: tuple[str, ...] = option(
        _TRAINING, "names of the files to train on; the first pattern that fits any counts"
    )
    eval_pattern: tuple[str, ...] = option(_EVALUATION, "names of the files to evaluate, likewise")
    num_classes: int | None = option(
        None, "number of classes, before the offset; none: as labels.txt has", min=1
    )


class ImageTfrecord(LabelledImages):
    """Encoded images and labels in TFRecord files: `image/encoded` and `image/class/label`.

    All records are found at the start, so that training shuffles all of them; the folder
    `.tf_frame` next to the files caches their places. Gzipped files are unpacked there once.
    """

    Params: ClassVar[type] = Params
    classes_from = f"{_LABEL_FILE} or --input.num_classes"

    def find(self) -> None:
        folder, training, evaluation, self.parts = record_splits(self.params)
        self.use(_class_names(folder, self.params.num_classes), training, evaluation)

    def content(self, split: Split) -> SplitContent:
        def read_label(values: Values) -> int | None:
            labels = values(LABEL)
            return labels[0] if len(labels) == 1 and isinstance(labels[0], int) else None

        facts = read_record_facts(split.content, read_label, max_pixels=self.params.max_pixels)
        counts = {"counts": self.count_labels(facts.labels)}
        return record_content(split, facts, counts, labels=facts.labels)

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.inputs.examples import IMAGE_AND_LABEL
        from tf_frame_vision.reading.records import record_examples

        return record_examples(split.content, order, IMAGE_AND_LABEL, self.params)


def _class_names(folder: Path, num_classes: int | None) -> tuple[str, ...]:
    path = folder / _LABEL_FILE
    names = _read_label_file(path) if path.exists() else {}
    count = num_classes or max(names, default=-1) + 1
    if not count:
        raise DataError(
            f"how many classes there are is not known: there is no {short(path)}. Write it "
            "(0:daisy, 1:rose ..., one a line), or give --input.num_classes"
        )
    if names and max(names) >= count:
        raise DataError(
            f"{short(path)} has the label {max(names)}, but --input.num_classes {num_classes} "
            f"allows labels to {count - 1} only"
        )
    return tuple(names.get(label, f"class {label}") for label in range(count))


def _read_label_file(path: Path) -> dict[int, str]:
    """Reads the name of each label, `0:daisy`, one a line (slim, datasets/dataset_utils.py).

    All that stands after the colon is the name, also blanks.

    Raises:
      DataError: it cannot be read, has a line of another form, names a label twice, or has
        no line at all.
    """
    names: dict[int, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip(BLANKS):
            continue
        label, name = _label_and_name(path, number, line)
        if label in names:
            raise DataError(
                f"{short(path)}, line {number} names the label {label} again; give each label "
                "one name"
            )
        names[label] = name
    if not names:
        raise DataError(f"{short(path)} is empty; it needs a line such as 0:daisy for each class")
    return names


def _label_and_name(path: Path, number: int, line: str) -> tuple[int, str]:
    label, colon, name = line.partition(":")
    if not colon or not _LABEL.fullmatch(label):
        raise DataError(
            f"{short(path)}, line {number} is {brief(line)}; it must be a label, a colon and a "
            "name, such as 0:daisy"
        )
    return int(label), name
