"""The input `coco_json`: images, and COCO's JSON files of instances.

data_dir/annotations/instances_train2017.json   images, annotations, categories
data_dir/annotations/instances_val2017.json     those to evaluate; may be missing
data_dir/train2017/..., data_dir/val2017/...    the images

Layouts of other programs: `tf_frame_vision.formats.coco_layout`; any other names by options. The
format: `coco_file`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text_file import normal_name
from tf_frame_detection.inputs.annotated_images import AnnotatedFolder, FolderOptions
from tf_frame_detection.inputs.annotations import FolderContent
from tf_frame_detection.inputs.coco_file import Category, CocoContent, read_coco_file
from tf_frame_detection.inputs.photographs import Photographs
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.coco_layout import CocoFile, CocoOptions, find_coco, find_image
from tf_frame_vision.reading.class_names import find_repeated
from tf_frame_vision.reading.inside import path_below

# Supercategory of the category that Roboflow puts above all others.
_NONE = "none"


@dataclasses.dataclass(frozen=True)
class Params(CocoOptions, FolderOptions):
    """Options of the input."""


def read_coco(root: Path, params: Any) -> FolderContent:
    """Reads the JSON files of a folder.

    Raises:
      DataError: a file is missing or broken, or both have other categories.
    """
    layout = find_coco(root, params, eval_split=params.eval_split)
    files = [layout.training, *([layout.evaluation] if layout.evaluation else [])]
    contents = [read_coco_file(file.path) for file in files]
    used = set().union(*(np.unique(content.category_ids).tolist() for content in contents))
    categories, notes = zip(*(_categories(content, used) for content in contents), strict=True)
    if categories[0] != categories[-1]:
        raise DataError(_explain_difference(files, categories))
    ids = sorted(categories[0])
    parts = [
        (_photographs(content, file, root, ids, outside=params.allow_outside), content.damaged)
        for content, file in zip(contents, files, strict=True)
    ]
    merged = [
        f"{content.path} lists {content.merged} images more than once; each is one example with "
        "the objects of all its records"
        for content in contents
        if content.merged
    ]
    names = [categories[0][id_] for id_ in ids]
    evaluation = parts[1] if len(parts) > 1 else None
    return FolderContent(names, parts[0], evaluation, [*layout.notes, *notes[0], *merged], ids)


class CocoJson(AnnotatedFolder):
    """Images, and JSON files in COCO's format. Crowds are ignored."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.COCO,)
    what_to_do = "Give --input.data_dir the folder of the images and JSON files"
    read_folder = staticmethod(read_coco)


def _categories(content: CocoContent, used: set[int]) -> tuple[dict[int, str], list[str]]:
    """Returns the name of each category, and remarks.

    Args:
      used: ids that annotations have.

    Raises:
      DataError: there is no category, or an id or a name occurs twice.
    """
    categories, root = list(content.categories), _find_root(content.categories, used)
    notes = []
    if root is not None:
        categories.remove(root)
        notes = [
            f"the category {root.id}, {root.name!r}, is the root above all others and has no "
            "object; it is no class"
        ]
    if not categories:
        raise DataError(f"{content.path} has no category")
    twice = find_repeated(category.id for category in categories)
    if twice is not None:
        raise DataError(f"{content.path} has the category id {twice} twice")
    same = find_repeated(normal_name(category.name) for category in categories)
    if same is not None:
        raise DataError(f"{content.path} has two categories with the name {same!r}; rename one")
    return {category.id: category.name for category in categories}, notes


def _find_root(categories: Sequence[Category], used: set[int]) -> Category | None:
    """Returns the category that Roboflow puts above all others; None if there is none."""
    for root in categories:
        others = [category for category in categories if category is not root]
        is_above = others and all(category.above == root.name for category in others)
        if is_above and root.above == _NONE and root.id not in used:
            return root
    return None


def _explain_difference(files: Sequence[CocoFile], categories: Sequence[Mapping[int, str]]) -> str:
    first, second = categories
    differences = [
        f"{id_} is {_quoted(first.get(id_))} in the first and {_quoted(second.get(id_))} in the "
        "second"
        for id_ in sorted({*first, *second})
        if first.get(id_) != second.get(id_)
    ]
    more = f" ({len(differences) - 2} more like this)" if len(differences) > 2 else ""
    return (
        f"{files[0].path} and {files[1].path} have other categories: "
        f"{', and '.join(differences[:2])}{more}; write the same categories into both files"
    )


def _quoted(name: str | None) -> str:
    return "missing" if name is None else repr(name)


def _photographs(
    content: CocoContent, file: CocoFile, folder: Path, ids: Sequence[int], *, outside: bool
) -> Photographs:
    """Returns the images of a file with the numbers of their classes."""
    find = _Finder(file, folder, outside=outside)
    paths = [find(name) if name else "" for name in content.names]
    twice = find_repeated(filter(None, paths))
    if twice is not None:
        raise DataError(f"{content.path} has several names for the image {twice}; correct them")
    crowd = content.crowd
    return Photographs(
        root=folder,
        paths=paths,
        sources=[str(content.path)] * len(content.names),
        sizes=content.sizes,
        are_shares=np.zeros(len(content.names), bool),
        image_ids=content.image_ids,
        ends=content.ends,
        boxes=content.boxes,
        # Objects of unknown categories are problems of their images.
        classes=np.searchsorted(np.array(ids, np.int64), content.category_ids).astype(np.int32),
        ignored=crowd,
        crowd=crowd,
        records=content.records,
        record_word="annotation",
        problems={place: (problem,) for place, problem in content.problems.items()},
    )


class _Finder:
    """Finds images by their `file_name`, most of them by one look at the disk.

    Args:
      file: the JSON file and the folder of its images.
      root: the data folder.
      outside: whether names may lead out of it.
    """

    def __init__(self, file: CocoFile, root: Path, *, outside: bool) -> None:
        self._file, self._root, self._outside = file, root, outside
        folders = dict.fromkeys((file.images, file.path.parent, root))
        self._prefixes = [
            os.path.join(path_below(root, folder), "").removeprefix("./")
            for folder in folders
            if folder == root or root in folder.parents
        ]
        self._base = os.path.join(root, "")

    def __call__(self, name: str) -> str:
        """Returns the path below the data folder."""
        slashed = name.replace("\\", "/")
        parts = slashed.split("/")
        # Everything else needs a closer look.
        if all(parts) and not {".", ".."} & set(parts) and parts[0][1:2] != ":":
            for prefix in self._prefixes:
                if os.path.exists(f"{self._base}{prefix}{slashed}"):
                    return prefix + slashed
        path = find_image(self._file, name, self._root, outside=self._outside)
        return path_below(self._root, path)
