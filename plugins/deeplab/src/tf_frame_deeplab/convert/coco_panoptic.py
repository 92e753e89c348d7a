"""Source of the converter `coco_panoptic`: the semantic classes of COCO's panoptic masks.

annotations/panoptic_train2017.json       categories, and the category of each segment
annotations/panoptic_train2017/NAME.png   colours, the ids of segments
train2017/NAME.jpg

The categories become the classes 0, 1 ... in the order of the file; pixels of no segment, 255, are
ignored. Format: cocodataset/panopticapi, README.md and panopticapi/utils.py (`rgb2id`); VOID
is 0 there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import parse_integer, read_json
from tf_frame_deeplab.convert.source import (
    MaskedPicture,
    Meaning,
    Source,
    existing_pair,
    find_folder,
    name_below,
)
from tf_frame_deeplab.inputs.classes import class_lines
from tf_frame_vision.reading.inside import inside

_ANNOTATIONS, _YEAR = "annotations", "2017"
_VOID, _IGNORED = 0, 255


def read_coco_panoptic(root: Path, splits: Sequence[str], *, allow_outside: bool = False) -> Source:
    """Lists the pictures of each split in the order of its file.

    Args:
      root: the folder of the unpacked archives.
      splits: `train` and `val`.
      allow_outside: whether paths in the files may lead out of the folders of images and masks.

    Raises:
      DataError: a file is missing or damaged, or the categories of the splits differ.
    """
    folder = find_folder(root, ("coco",), _ANNOTATIONS)
    contents = {split: _read(folder, split) for split in splits}
    names = {split: _names(split, content) for split, content in contents.items()}
    first = names[splits[0]]
    for split, split_names in names.items():
        if split_names != first:
            raise DataError(f"the files of {splits[0]} and {split} have other categories")
    parts = {split: _pictures(folder, split, contents[split], allow_outside) for split in splits}
    return Source(parts, first, _IGNORED)


def _read(folder: Path, split: str) -> Mapping[str, Any]:
    path = folder / _ANNOTATIONS / _file(split)
    content = read_json(path)
    keys = ("annotations", "categories", "images")
    missing = [
        key
        for key in keys
        if not isinstance(content, dict) or not isinstance(content.get(key), list)
    ]
    if missing or not content["annotations"]:
        raise DataError(f"{short(path)} has no {', '.join(missing) or 'annotation'}")
    return dict(content)


def _file(split: str) -> str:
    return f"panoptic_{split}{_YEAR}.json"


def _names(split: str, content: Mapping[str, Any]) -> list[str]:
    try:
        return class_lines([category["name"] for category in content["categories"]])
    except (KeyError, TypeError, AttributeError):
        raise DataError(f"{_file(split)}: a category has no name") from None


def _pictures(
    folder: Path, split: str, content: Mapping[str, Any], allow_outside: bool
) -> list[MaskedPicture]:
    masks = folder / _ANNOTATIONS / f"panoptic_{split}{_YEAR}"
    images, source = folder / f"{split}{_YEAR}", f"{masks}.json"

    def path(root: Path, name: str) -> Path:
        return inside(root, name, allow_outside=allow_outside, source=source)

    pictures = []
    record: Any = None
    try:
        classes = {}
        for number, record in enumerate(content["categories"]):
            classes[parse_integer(record["id"])] = number
        files = {}
        for record in content["images"]:
            files[_image_id(record["id"])] = record["file_name"]
        for record in content["annotations"]:
            image = path(images, files[_image_id(record["image_id"])])
            mask = path(masks, record["file_name"])
            meaning = _meaning(record["segments_info"], classes)
            pair = existing_pair(name_below(images, image), image, [mask])
            pictures.append(MaskedPicture(pair, meaning))
    except (KeyError, TypeError, ValueError) as error:
        place = record.get("file_name", record.get("id")) if isinstance(record, dict) else record
        problem = str(error)
        if isinstance(error, KeyError):
            problem = f"it lacks or names an unknown {error}"
        elif isinstance(error, TypeError):  # Such as a text where an object stands.
            problem = "it has not the form of panoptic records"
        raise DataError(f"a record of {short(source)}, {brief(place)}: {problem}") from None
    return pictures


def _image_id(value: Any) -> int | str:
    """Returns an id as a number if it is one, so that 1, 1.0 and "1" are the same image.

    Raises:
      ValueError: it is neither a number nor a text.
    """
    try:
        return parse_integer(value)
    except ValueError:
        if isinstance(value, str):
            return value
        raise


def _meaning(segments: Sequence[Mapping[str, Any]], classes: Mapping[int, int]) -> Meaning:
    """Returns the class of the colour of each segment: red counts 1, green 2**8, blue 2**16."""
    values = {
        parse_integer(segment["id"]): classes[parse_integer(segment["category_id"])]
        for segment in segments
    }
    values[_VOID] = _IGNORED
    colours = {(i & 255) << 16 | i & 255 << 8 | i >> 16: value for i, value in values.items()}
    return Meaning({}, colours)
