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
    Marked,
    Photograph,
    RecordError,
    class_number,
    corner_box,
    find_image,
    images_by_stem,
    number_classes,
    parse_numbers,
)
from tf_frame_detection.inputs.photographs import Part
from tf_frame_detection.inputs.voc_xml import FormOptions
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.reading.class_names import find_class_names
from tf_frame_vision.reading.folders import first_existing

_WHAT_TO_DO = "Give --input.data_dir a folder with images and labelTxt, or with train and val"
_LABELS = ("labelTxt", "labels", "labelTxt-v1.0")
_HEADERS = ("imagesource:", "gsd:")
_CORNERS = 8
_FIELDS = (_CORNERS + 1, _CORNERS + 2)


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
        names, training, evaluation = read_dota(
            self.existing(_WHAT_TO_DO),
            self.params,
            ignore_difficult=self.params.ignore_difficult,
        )
        self.use(names, training, evaluation)


def read_dota(
    folder: Path, options: FormOptions, *, ignore_difficult: bool
) -> tuple[Sequence[str], Part, Part | None]:
    """Reads the text files of a folder.

    Returns:
      The classes, photographs to train on, and those to evaluate: None without a folder of these.

    Raises:
      DataError: a folder is missing, or the file of the classes is wrong.
    """
    if (folder / "train").is_dir():
        evaluation = first_existing(folder, ("val", "validation"))
        folders = [folder / "train", *([evaluation] if evaluation else [])]
    else:
        folders = [folder]
    lines = [_lines(part_folder) for part_folder in folders]
    # Lines of other lengths are named later.
    class_names = [
        words[_CORNERS]
        for part in lines
        for _, _, rows in part
        if not isinstance(rows, str)
        for _, words in rows
        if len(words) in _FIELDS
    ]
    classes = find_class_names(folder, options.classes, class_names)
    numbered = number_classes(classes)
    parts = [_part(part, numbered, ignore_difficult) for part in lines]
    return classes, parts[0], parts[1] if len(parts) > 1 else None


# Number and words of each line; or why a file cannot be used.
_Rows = list[tuple[int, list[str]]] | str


def _lines(folder: Path) -> list[tuple[Path, Path, _Rows]]:
    """Returns image, text file, and number and words of each line of the file, by name."""
    labels = first_existing(folder, _LABELS)
    images = folder / "images"
    if labels is None or not images.is_dir():
        missing = "labelTxt" if labels is None else "images"
        raise DataError(f"{folder} has no folder {missing}. {_WHAT_TO_DO}.")
    by_stem = images_by_stem(images)
    stems = sorted({*by_stem, *(path.stem for path in labels.glob("*.txt"))})
    return [
        (find_image(by_stem, images, stem), labels / f"{stem}.txt", _rows(labels / f"{stem}.txt"))
        for stem in stems
    ]


def _rows(path: Path) -> _Rows:
    try:
        lines = enumerate(read_lines(path), 1)
    except DataError as error:
        return str(error)
    return [
        (number, split_words(line))
        for number, line in lines
        if line.strip(BLANKS) and not line.lower().startswith(_HEADERS)
    ]


def _part(
    lines: Sequence[tuple[Path, Path, _Rows]], classes: Mapping[str, int], ignore_difficult: bool
) -> Part:
    problems = []
    photographs = []
    for image, path, rows in lines:
        if isinstance(rows, str):
            problems.append(rows)
            continue
        marks, faults = [], []
        for number, words in rows:
            try:
                marks.append(_mark(words, f"line {number}", classes, ignore_difficult))
            except RecordError as error:
                faults.append(f"line {number}: {error}")
        photographs.append(Photograph(image, str(path), marks, problems=faults))
    return photographs, problems


def _mark(
    words: Sequence[Any], record: str, classes: Mapping[str, int], ignore_difficult: bool
) -> Marked:
    if len(words) not in _FIELDS:
        raise RecordError(f"it has {len(words)} fields instead of {_CORNERS + 2}")
    values = parse_numbers(list(words[:_CORNERS]), _CORNERS, "its corners")
    corners = tuple(value for k in range(0, _CORNERS, 2) for value in (values[k + 1], values[k]))
    number = class_number(classes, words[_CORNERS])
    difficult = words[_CORNERS + 1 :] == ["1"]
    ignored = difficult and ignore_difficult
    return Marked(corner_box(corners), number, record, ignored, corners=corners)
