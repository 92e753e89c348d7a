"""The input `coco_json`: images, and COCO's JSON files of instances.

data_dir/annotations/instances_train2017.json   images, annotations, categories
data_dir/annotations/instances_val2017.json     those to evaluate; may be missing
data_dir/train2017/..., data_dir/val2017/...    the images

Any other names by options. Format: https://cocodataset.org/#format-data, object detection; of an
annotation `image_id`, `category_id`, `bbox` (left, upper, width, height) and `iscrowd` count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import ConfigError, DataError
from tf_frame.text_file import read_json
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import (
    Marked,
    Photograph,
    RecordError,
    parse_numbers,
)
from tf_frame_detection.inputs.photographs import Part
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.reading.class_names import find_repeated

_LISTS = {"images": "image", "annotations": "annotation", "categories": "category"}
_WHAT_TO_DO = "Give --input.data_dir the folder of the images and JSON files"


@dataclasses.dataclass(frozen=True)
class FormOptions:
    """Options that say where the files are."""

    train_annotations: str = option(
        "",
        "JSON file to train on, below data_dir; empty: annotations/instances_train*.json, or the "
        "only JSON file there is",
    )
    eval_annotations: str = option(
        "", "JSON file to evaluate; empty: annotations/instances_val*.json if it is there"
    )
    train_images: str = option(
        "", "folder of the images to train on; empty: train2017, train, images, or data_dir itself"
    )
    eval_images: str = option("", "folder of those to evaluate; empty: val2017, val, images ...")


@dataclasses.dataclass(frozen=True)
class Params(FormOptions, FolderOptions):
    """Options of the input."""


@dataclasses.dataclass(frozen=True)
class Content:
    """Classes and photographs of COCO's JSON files.

    Attributes:
      names, ids: classes, in the order of their ids.
      parts: photographs, and lines for records that cannot be used: to train on, and perhaps to
        evaluate.
    """

    names: Sequence[str]
    ids: Sequence[int]
    parts: Sequence[Part]


class CocoJson(AnnotatedFolder):
    """Images, and JSON files in COCO's format. Crowds are ignored."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.COCO,)

    def find(self) -> None:
        content = read_coco(self.existing(_WHAT_TO_DO), self.params)
        self.class_ids = content.ids
        evaluation = content.parts[1] if len(content.parts) > 1 else None
        self.use(content.names, content.parts[0], evaluation)


def read_coco(folder: Path, options: FormOptions) -> Content:
    """Reads the JSON files of a folder.

    Raises:
      ConfigError, DataError: a file is missing or broken, or both have other categories.
    """
    training, evaluation = _files(folder, options)
    splits = [("train", training, options.train_images)]
    if evaluation:
        splits.append(("val", evaluation, options.eval_images))
    contents = [_lists(path) for _, path, _ in splits]
    categories = [
        _categories(path, content) for (_, path, _), content in zip(splits, contents, strict=True)
    ]
    if categories[0] != categories[-1]:
        raise DataError(f"{training} and {evaluation} have other categories")
    ids = sorted(categories[0])
    parts = [
        _part(path, content, _images(folder, split, images), {c: n for n, c in enumerate(ids)})
        for (split, path, images), content in zip(splits, contents, strict=True)
    ]
    return Content([categories[0][category] for category in ids], ids, parts)


def _files(folder: Path, options: FormOptions) -> tuple[Path, Path | None]:
    paths = []
    for given, split in ((options.train_annotations, "train"), (options.eval_annotations, "val")):
        usual = sorted((folder / "annotations").glob(f"instances_{split}*.json"))
        paths.append(folder / given if given else next(iter(usual), None))
    training, evaluation = paths
    if training is None:
        json_files = [path for path in sorted(folder.glob("*.json")) if path != evaluation]
        if len(json_files) != 1:
            raise ConfigError(
                f"{folder} has no annotations/instances_train*.json, and {len(json_files)} JSON "
                "files; say which one to train on: --input.train_annotations FILE"
            )
        training = json_files[0]
    return training, evaluation


def _images(folder: Path, split: str, given: str) -> Path:
    if given:
        return folder / given
    names = (f"{split}2017", split, f"images/{split}2017", f"images/{split}", "images")
    return next((folder / name for name in names if (folder / name).is_dir()), folder)


def _lists(path: Path) -> Mapping[str, Any]:
    content = read_json(path)
    missing = [
        name
        for name in _LISTS
        if not isinstance(content, dict) or not isinstance(content.get(name), list)
    ]
    if missing:
        raise DataError(f"{path} has no list {', '.join(missing)}; is it a file of instances?")
    return dict(content)


def _categories(path: Path, content: Mapping[str, Any]) -> dict[int, str]:
    try:
        pairs = [(int(record["id"]), str(record["name"])) for record in content["categories"]]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DataError(f"{path}: a category has no id, which is a number, or no name") from None
    if not pairs:
        raise DataError(f"{path} has no category")
    twice, same = (find_repeated(column) for column in zip(*pairs, strict=True))
    if twice is not None:
        raise DataError(f"{path} has the category id {twice} twice")
    if same is not None:
        raise DataError(f"{path} has two categories with the name {same!r}; rename one")
    return dict(pairs)


def _part(path: Path, content: Mapping[str, Any], folder: Path, classes: Mapping[int, int]) -> Part:
    problems: list[str] = []
    images = dict(_by_id(path, content, "images", problems))
    marks: dict[Any, list[Marked]] = {id_: [] for id_ in images}
    faults: dict[Any, list[str]] = {id_: [] for id_ in images}
    for id_, annotation in _by_id(path, content, "annotations", problems):
        try:
            image, mark = _mark(annotation, f"annotation {id_}", classes)
            if image not in marks:
                raise RecordError(f"there is no image {image!r}")
            marks[image].append(mark)
        except RecordError as error:
            image = annotation.get("image_id")
            if isinstance(image, (int, str)) and image in faults:
                faults[image].append(f"annotation {id_}: {error}")
            else:
                problems.append(f"{path}, annotation {id_}: {error}")
    photographs = []
    for id_, image in images.items():
        try:
            photograph = _photograph(path, id_, image, folder, marks[id_])
            photographs.append(dataclasses.replace(photograph, problems=faults[id_]))
        except RecordError as error:
            problems.append(f"{path}, image {id_}: {error}")
    return photographs, problems


def _by_id(path: Path, content: Mapping[str, Any], name: str, problems: list[str]) -> Any:
    """Yields `(id, record)` of a list; a record without an id of its own is a problem."""
    seen = set()
    for place, record in enumerate(content[name]):
        one = _LISTS[name]
        id_ = record.get("id") if isinstance(record, dict) else None
        if not isinstance(id_, (int, str)):
            problems.append(f"{path}, {one} {place} of the list has no id")
        elif id_ in seen:
            problems.append(f"{path} has the {one} id {id_} twice")
        else:
            seen.add(id_)
            yield id_, record


def _mark(
    annotation: Mapping[str, Any], record: str, classes: Mapping[int, int]
) -> tuple[Any, Marked]:
    """Returns the id of the image, and the object."""
    missing = {"image_id", "category_id", "bbox"} - annotation.keys()
    if missing:
        raise RecordError(f"it has no {', '.join(sorted(missing))}")
    left, upper, width, height = parse_numbers(annotation["bbox"], 4, "its bbox")
    category = annotation["category_id"]
    if not isinstance(category, int) or category not in classes:
        raise RecordError(f"its category {category!r} is none of the file's")
    if not isinstance(annotation["image_id"], (int, str)):
        raise RecordError(f"there is no image {annotation['image_id']!r}")
    crowd = bool(annotation.get("iscrowd", 0))
    box = (upper, left, upper + height, left + width)
    return annotation["image_id"], Marked(box, classes[category], record, crowd, crowd)


def _photograph(
    path: Path, id_: Any, image: Mapping[str, Any], folder: Path, marks: Sequence[Marked]
) -> Photograph:
    name, height, width = (image.get(key) for key in ("file_name", "height", "width"))
    if not isinstance(name, str) or not name:
        raise RecordError("it has no file_name")
    if isinstance(id_, int) and not -(2**63) <= id_ < 2**63:
        raise RecordError("its id does not fit into 64 bits")
    size = (height, width) if isinstance(height, int) and isinstance(width, int) else None
    number = id_ if isinstance(id_, int) else None
    return Photograph(folder / name, str(path), marks, size, number)
