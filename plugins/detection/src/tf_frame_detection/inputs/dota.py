"""The input `dota`: images, and a text file of each with the corners of rotated boxes.

data_dir/train/images/NAME.png      and data_dir/val/...; or images and labelTxt in data_dir
data_dir/train/labelTxt/NAME.txt    a line for each object: x1 y1 x2 y2 x3 y3 x4 y4 class difficult
data_dir/classes.txt                the classes, a line each; without it all that occur, sorted

Form: https://captain-whu.github.io/DOTA/dataset.html; lines `imagesource:...` and `gsd:...` are
left out, and `difficult` may be missing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text_file import BLANKS, read_lines, split_words
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import (
    AnnotatedFile,
    FolderContent,
    Marked,
    Part,
    Photograph,
    RecordError,
    class_number,
    corner_box,
    damage_of_file,
    number_classes,
    parse_numbers,
    read_files,
)
from tf_frame_detection.inputs.voc_xml import FormOptions
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.reading.class_names import find_class_names
from tf_frame_vision.reading.folders import first_existing
from tf_frame_vision.reading.scan import Problem
from tf_frame_vision.reading.splits import find_splits

_WHAT_TO_DO = "Give --input.data_dir a folder with images and labelTxt, or with train and val"
_LABELS = ("labelTxt", "labels", "labelTxt-v1.0")
_HEADERS = ("imagesource:", "gsd:")
_CORNERS = 8
_FIELDS = (_CORNERS + 1, _CORNERS + 2)
# Place of the class in a row, and the length of a row of a line that cannot be used.
_CLASS, _FAULTY = _CORNERS + 1, 2


@dataclasses.dataclass(frozen=True)
class Params(FormOptions, FolderOptions):
    """Options of the input."""

    ignore_difficult: bool = option(True, "whether difficult objects are neither right nor wrong")
    rotated: bool = option(False, "also yield rotated boxes")
    data_augmentation: tuple[str, ...] = option(
        ("random_horizontal_flip", "random_vertical_flip", "random_rotation90"),
        "random changes of training images, in this order; the object detection API's names, "
        "perhaps with options: NAME:KEY=VALUE:...",
    )


class Dota(AnnotatedFolder):
    """Images, and text files of rotated boxes in DOTA's form."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.DOTA,)

    def find(self) -> None:
        content = read_dota(
            self.existing(_WHAT_TO_DO),
            self.params,
            ignore_difficult=self.params.ignore_difficult,
            eval_split=self.params.eval_split,
        )
        self.remarks = content.notes
        self.use(content.names, content.training, content.evaluation)


def read_dota(
    folder: Path, options: FormOptions, *, ignore_difficult: bool, eval_split: str = "val"
) -> FolderContent:
    """Reads the text files of a folder.

    Args:
      folder: the data folder.
      options: the file of the classes.
      ignore_difficult: whether difficult objects are neither right nor wrong.
      eval_split: the option `--input.eval_split`.

    Raises:
      DataError: a folder is missing, or the file of the classes is wrong.
    """
    splits = find_splits(folder, eval_split=eval_split)
    folders = [splits.train, splits.eval] if splits.train else [folder]
    parts = [_read_part(folder, part) for part in folders if part]
    # Lines of other lengths have no class, and are named later.
    found = {
        row[_CLASS]
        for part in parts
        for annotated in part
        if not isinstance(annotated.content, Problem)
        for row in annotated.content
        if len(row) > _CLASS
    }
    classes = find_class_names(folder, options.classes, found)
    numbered = number_classes(classes)
    made = [_make_part(part, numbered, ignore_difficult) for part in parts]
    notes = splits.notes() if splits.train else []
    return FolderContent(classes, made[0], made[1] if len(made) > 1 else None, notes)


def _read_part(root: Path, folder: Path) -> list[AnnotatedFile]:
    labels, images = first_existing(folder, _LABELS), folder / "images"
    if labels is None or not images.is_dir():
        missing = "labelTxt" if labels is None else "images"
        raise DataError(f"{folder} has no folder {missing}. {_WHAT_TO_DO}.")
    return read_files(root, (images, labels), ".txt", None, _examine, kind="dota")


def _examine(path: Path) -> Any:
    """Returns a row for each object: line, 8 numbers, class, difficult; or line, fault."""
    return [
        _examine_line(number, split_words(line))
        for number, line in enumerate(read_lines(path), 1)
        if line.strip(BLANKS) and not line.lower().startswith(_HEADERS)
    ]


def _examine_line(number: int, words: Sequence[str]) -> list[Any]:
    try:
        if len(words) not in _FIELDS:
            raise RecordError(f"it has {len(words)} fields instead of {_CORNERS + 2}")
        values = parse_numbers(list(words[:_CORNERS]), _CORNERS, "its corners")
        if _is_number(words[_CORNERS]) and all(-1 <= value <= 2 for value in values):
            raise RecordError("it has shares of the image and no name of a class")
    except RecordError as error:
        return [number, str(error)]
    return [number, *values, words[_CORNERS], words[_CORNERS + 1 :] == ["1"]]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _make_part(
    part: Sequence[AnnotatedFile], classes: Mapping[str, int], ignore_difficult: bool
) -> Part:
    usable = [annotated for annotated in part if not isinstance(annotated.content, Problem)]
    damaged = [damage_of_file(each) for each in part if isinstance(each.content, Problem)]
    photographs = (_photograph(annotated, classes, ignore_difficult) for annotated in usable)
    return [*photographs], damaged


def _photograph(
    annotated: AnnotatedFile, classes: Mapping[str, int], ignore_difficult: bool
) -> Photograph:
    marks, problems = [], []
    for row in annotated.content:
        record = f"line {row[0]}"
        try:
            if len(row) == _FAULTY:
                raise RecordError(row[1])
            marks.append(_mark(row, record, classes, ignore_difficult))
        except RecordError as error:
            problems.append(f"{record}: {error}")
    return Photograph(annotated.image, str(annotated.file), marks, problems=problems)


def _mark(
    row: Sequence[Any], record: str, classes: Mapping[str, int], ignore_difficult: bool
) -> Marked:
    values = row[1:_CLASS]
    corners = tuple(value for k in range(0, _CORNERS, 2) for value in (values[k + 1], values[k]))
    number = class_number(classes, row[_CLASS])
    ignored = row[-1] and ignore_difficult
    return Marked(corner_box(corners), number, record, ignored, corners=corners)
