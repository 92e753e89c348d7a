"""The input `dota`: images, and a text file of each with the corners of rotated boxes.

data_dir/train/images/NAME.png      and data_dir/val/...; or images and labelTxt in data_dir
data_dir/train/labelTxt/NAME.txt    a line for each object: x1 y1 x2 y2 x3 y3 x4 y4 class difficult
data_dir/classes.txt                the classes, a line each; without it all that occur, sorted

Form: https://captain-whu.github.io/DOTA/dataset.html; lines `imagesource:...` and `gsd:...` are
left out, and `difficult` may be missing. Names may have folders, and a class may have blanks.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.text_file import BLANKS, read_lines, split_words
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotation_files import make_content, part_folders, read_files
from tf_frame_detection.inputs.annotations import FolderContent
from tf_frame_detection.inputs.voc_xml import FormOptions
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.record_fields import RecordError, parse_numbers
from tf_frame_vision.reading.folders import first_existing
from tf_frame_vision.reading.splits import find_splits

_WHAT_TO_DO = "Give --input.data_dir a folder with images and labelTxt, or with train and val"
_LABELS = ("labelTxt", "labels", "labelTxt-v1.0")
_HEADERS = ("imagesource:", "gsd:")
_CORNERS = 8
# Values of `difficult`; a few programs write 2.
_FLAGS = ("0", "1", "2")


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


def read_dota(root: Path, params: Any) -> FolderContent:
    """Reads the text files of a folder.

    Raises:
      DataError: a folder is missing, or the file of the classes is wrong.
    """
    splits = find_splits(root, eval_split=params.eval_split)
    pairs = [_find_folders(part) for part in (splits.train, splits.eval) if part]
    if not splits.train:
        pairs, splits = part_folders(_find_folders(root), params.eval_split)
    left_out: Counter[str] = Counter()
    parts = [
        read_files(root, pair, ".txt", None, _examine, left_out, kind="dota") for pair in pairs
    ]
    content = make_content(
        root, parts, params, record_word="line", splits=splits, left_out=left_out
    )
    return dataclasses.replace(content, rotated=True)


class Dota(AnnotatedFolder):
    """Images, and text files of rotated boxes in DOTA's form."""

    Params: ClassVar[type] = Params
    matches_classes_by = "classes"
    formats = (look_alikes.DOTA,)
    what_to_do = _WHAT_TO_DO
    read_folder = staticmethod(read_dota)


def _find_folders(folder: Path) -> tuple[Path, Path]:
    """Returns the folders of images and text files.

    Raises:
      DataError: one is missing.
    """
    labels, images = first_existing(folder, _LABELS), folder / "images"
    if labels is None or not images.is_dir():
        missing = "labelTxt" if labels is None else "images"
        raise DataError(f"{short(folder)} has no folder {missing}. {_WHAT_TO_DO}.")
    return images, labels


def _examine(path: Path) -> Any:
    """Returns no size, and rows; see `annotation_files`."""
    lines = enumerate(read_lines(path), 1)
    return None, [
        _examine_line(number, split_words(line))
        for number, line in lines
        if line.strip(BLANKS) and not line.lower().startswith(_HEADERS)
    ]


def _examine_line(number: int, words: Sequence[str]) -> list[Any]:
    # The name of a class may have blanks.
    has_flag = len(words) > _CORNERS + 1 and words[-1] in _FLAGS
    name = words[_CORNERS : -1 if has_flag else None]
    try:
        if not name or (len(name) > 1 and any(map(_is_number, name))):
            raise RecordError(f"it has {len(words)} fields instead of {_CORNERS + 2}")
        values = parse_numbers(list(words[:_CORNERS]), _CORNERS, "its corners")
        if _is_number(name[0]) and all(-1 <= value <= 2 for value in values):
            raise RecordError("it has shares of the image and no name of a class")
    except RecordError as error:
        return [number, str(error)]
    corners = [value for k in range(0, _CORNERS, 2) for value in (values[k + 1], values[k])]
    return [number, " ".join(name), has_flag and words[-1] == "1", *corners]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
