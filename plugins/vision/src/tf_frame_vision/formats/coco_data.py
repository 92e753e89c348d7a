"""Reads a data set in COCO's form: classes, and images with the numbers of their classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import normal_name
from tf_frame_vision.formats.coco_file import CocoContent, read_coco_file
from tf_frame_vision.formats.coco_layout import ImageFinder, find_coco
from tf_frame_vision.formats.coco_records import Category, Parser
from tf_frame_vision.reading.class_names import find_repeated
from tf_frame_vision.reading.splits import Splits

# Supercategory of the category that Roboflow puts above all others.
_NONE = "none"


@dataclasses.dataclass(frozen=True, eq=False)
class CocoPart:
    """The images of a JSON file.

    Attributes:
      content: the file.
      paths: of the images, below the data folder; empty where the file says none.
      classes: `[objects]` int32, the class of each object. That of an object of an unknown category
        means nothing: it is a problem of its image.
    """

    content: CocoContent
    paths: Sequence[str]
    classes: Any


@dataclasses.dataclass(frozen=True)
class CocoData:
    """A data set.

    Attributes:
      names, ids: classes, in the order of their ids.
      parts: images to train on, and perhaps to evaluate.
      notes: remarks for people, a line each.
      splits: the parts by their names.
    """

    names: Sequence[str]
    ids: Sequence[int]
    parts: Sequence[CocoPart]
    notes: Sequence[str]
    splits: Splits


def read_coco(root: Path, params: Any, parse: Parser, *, kind: str) -> CocoData:
    """Reads the JSON files of a folder.

    Args:
      root: the data folder.
      params: `CocoOptions`, `eval_split` and `allow_outside`.
      parse, kind: see `coco_file.read_coco_file`.

    Raises:
      DataError: a file is missing or broken, or both have other categories.
    """
    layout = find_coco(root, params)
    files = [layout.training, *([layout.evaluation] if layout.evaluation else [])]
    contents = [read_coco_file(file.path, parse, kind=kind) for file in files]
    used = set().union(*(np.unique(content.category_ids).tolist() for content in contents))
    categories, notes = zip(*(_find_categories(content, used) for content in contents), strict=True)
    if categories[0] != categories[-1]:
        raise DataError(_explain_difference(contents, categories))
    ids = sorted(categories[0])
    parts = []
    for file, content in zip(files, contents, strict=True):
        find = ImageFinder(file, root, outside=params.allow_outside)
        paths = [find(name) if name else "" for name in content.names]
        twice = find_repeated(filter(None, paths))
        if twice is not None:
            raise DataError(
                f"{short(content.path)} has several names for the image {twice}; correct them"
            )
        classes = np.searchsorted(np.array(ids, np.int64), content.category_ids)
        parts.append(CocoPart(content, paths, classes.astype(np.int32)))
    merged = [
        f"{content.path} lists {content.merged} images more than once; each is one example with "
        "the objects of all its records"
        for content in contents
        if content.merged
    ]
    names = [categories[0][id_] for id_ in ids]
    return CocoData(names, ids, parts, [*notes[0], *merged], layout.splits)


def _find_categories(content: CocoContent, used: set[int]) -> tuple[dict[int, str], list[str]]:
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
            f"the category {root.id}, {brief(root.name)}, is the root above all others and has no "
            "object; it is no class"
        ]
    if not categories:
        raise DataError(f"{short(content.path)} has no category")
    twice = find_repeated(category.id for category in categories)
    if twice is not None:
        raise DataError(f"{short(content.path)} has the category id {twice} twice")
    same = find_repeated(normal_name(category.name) for category in categories)
    if same is not None:
        raise DataError(
            f"{short(content.path)} has two categories with the name {brief(same)}; rename one"
        )
    return {category.id: category.name for category in categories}, notes


def _find_root(categories: Sequence[Category], used: set[int]) -> Category | None:
    """Returns the category that Roboflow puts above all others; None if there is none."""
    for root in categories:
        below = [category for category in categories if category is not root]
        is_above = below and all(category.above == root.name for category in below)
        if is_above and root.above == _NONE and root.id not in used:
            return root
    return None


def _explain_difference(
    contents: Sequence[CocoContent], categories: Sequence[Mapping[int, str]]
) -> str:
    first, second = categories
    differences = [
        f"{id_} is {_quoted(first.get(id_))} in the first and {_quoted(second.get(id_))} in the "
        "second"
        for id_ in sorted({*first, *second})
        if first.get(id_) != second.get(id_)
    ]
    more = f" ({len(differences) - 2} more like this)" if len(differences) > 2 else ""
    return (
        f"{contents[0].path} and {contents[1].path} have other categories: "
        f"{', and '.join(differences[:2])}{more}; write the same categories into both files"
    )


def _quoted(name: str | None) -> str:
    return "missing" if name is None else repr(name)
