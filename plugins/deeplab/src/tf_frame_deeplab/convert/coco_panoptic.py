"""Source of the converter `coco_panoptic`: the semantic classes of COCO's panoptic masks.

annotations/panoptic_train2017.json       categories, and the category of each segment
annotations/panoptic_train2017/NAME.png   colours, the ids of segments
train2017/NAME.jpg

The categories become the classes 0, 1 ... in the order of the file; pixels of no segment, 255, are
ignored. Format: cocodataset/panopticapi, README.md and panopticapi/utils.py (`rgb2id`); VOID
is 0 there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame_deeplab.convert.source import (
    MaskedPicture,
    Meaning,
    Source,
    existing_pair,
    find_folder,
)

_ANNOTATIONS, _YEAR = "annotations", "2017"
_VOID, _IGNORED = 0, 255


def read_coco_panoptic(root: Path, splits: Sequence[str]) -> Source:
    """Lists the pictures of each split in the order of its file.

    Args:
      root: the folder of the unpacked archives.
      splits: `train` and `val`.

    Raises:
      DataError: a file is missing or damaged, or the categories of the splits differ.
    """
    folder = find_folder(root, ("coco",), _ANNOTATIONS)
    contents = {split: _read(folder, split) for split in splits}
    names = {split: _names(content) for split, content in contents.items()}
    first = names[splits[0]]
    for split, split_names in names.items():
        if split_names != first:
            raise DataError(f"the files of {splits[0]} and {split} have other categories")
    parts = {split: _pictures(folder, split, contents[split]) for split in splits}
    return Source(parts, first, _IGNORED)


def _read(folder: Path, split: str) -> Mapping[str, Any]:
    path = folder / _ANNOTATIONS / f"panoptic_{split}{_YEAR}.json"
    try:
        content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        missing = {"images", "annotations", "categories"} - content.keys()
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    if missing or not content["annotations"]:
        raise DataError(f"{path} has no {', '.join(sorted(missing)) or 'annotation'}")
    return content


def _names(content: Mapping[str, Any]) -> list[str]:
    return [category["name"] for category in content["categories"]]


def _pictures(folder: Path, split: str, content: Mapping[str, Any]) -> list[MaskedPicture]:
    classes = {category["id"]: n for n, category in enumerate(content["categories"])}
    files = {image["id"]: image["file_name"] for image in content["images"]}
    masks = folder / _ANNOTATIONS / f"panoptic_{split}{_YEAR}"
    pictures = []
    for annotation in content["annotations"]:
        try:
            image = folder / f"{split}{_YEAR}" / files[annotation["image_id"]]
            mask = masks / annotation["file_name"]
            meaning = _meaning(annotation["segments_info"], classes)
        except KeyError as error:
            raise DataError(
                f"an annotation of {masks}.json, {annotation.get('file_name')}, lacks or names an"
                f" unknown {error}"
            ) from None
        pictures.append(MaskedPicture(existing_pair(mask.stem, image, [mask]), meaning))
    return pictures


def _meaning(segments: Sequence[Mapping[str, Any]], classes: Mapping[int, int]) -> Meaning:
    """Returns the class of the colour of each segment: red counts 1, green 2**8, blue 2**16."""
    values = {segment["id"]: classes[segment["category_id"]] for segment in segments}
    values[_VOID] = _IGNORED
    colours = {(i & 255) << 16 | i & 255 << 8 | i >> 16: value for i, value in values.items()}
    return Meaning({}, colours)
