"""Reads a folder of images and JSON files of labelme; see `labelme_shapes`."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.formats.labelme_shapes import (
    BACKGROUND,
    IGNORE,
    LabelmeShape,
    examine_labelme,
    shape_problem,
)
from tf_frame_vision.reading.class_names import find_class_names, find_repeated, is_background
from tf_frame_vision.reading.folders import files_below, first_existing
from tf_frame_vision.reading.inside import first_inside, inside, path_below
from tf_frame_vision.reading.scan import Problem, scan
from tf_frame_vision.reading.splits import Splits, find_splits

_CLASSES = ("classes.txt", "labels.txt")

# Of the results of examinations.
_VERSION = 3


@dataclasses.dataclass(frozen=True)
class LabelmeOptions:
    """Options of the form of a folder."""

    classes: str = option(
        "", "file of the classes; empty: classes.txt or labels.txt, or all that occur, sorted"
    )
    left_out_shapes: tuple[str, ...] = option(
        (), "kinds of shapes that are no objects, such as point,line; else they are errors"
    )


@dataclasses.dataclass(frozen=True, slots=True)
class LabelmeImage:
    """An image and its shapes.

    Attributes:
      path: the image.
      file: the JSON file.
      size: height and width that the file says; None: it says none.
      rows: shapes, in the form of `examine_labelme`.
      left_out: the option `left_out_shapes`.
      problems: shapes that cannot be used, such as `shape 2: its polygon has ...`.
      error: why the file cannot be used, such as `it is no JSON ...`; empty: it can.
    """

    path: Path
    file: Path
    size: tuple[int, int] | None = None
    rows: str = "[]"
    left_out: Sequence[str] = ()
    problems: Sequence[str] = ()
    error: str = ""

    @property
    def shapes(self) -> list[LabelmeShape]:
        """The shapes that can be used, made anew each time: they would fill the memory."""
        rows = enumerate(json.loads(self.rows), 1)
        return [
            LabelmeShape(place, *row)
            for place, row in rows
            if not _row_problem(row) and row[1] not in self.left_out
        ]


def _row_problem(row: Any) -> str:
    return row if isinstance(row, str) else shape_problem(row[1], row[3])


@dataclasses.dataclass(frozen=True)
class LabelmeData:
    """A folder of images and JSON files.

    Attributes:
      names: the classes, without `IGNORE` and the background.
      training, evaluation: the images; None: there is no part to evaluate.
      notes: remarks for people, a line each.
      splits: the parts by their names.
    """

    names: Sequence[str]
    training: Sequence[LabelmeImage]
    evaluation: Sequence[LabelmeImage] | None
    notes: Sequence[str]
    splits: Splits


def read_labelme(root: Path, params: Any) -> LabelmeData:
    """Reads a folder: parts are sub-folders with the names of parts.

    Args:
      root: the data folder.
      params: `LabelmeOptions`, `eval_split` and `allow_outside`.

    Raises:
      DataError: there is no JSON file of labelme, a path leads out of the folder, or two files
        describe one image.
    """
    splits = find_splits(root, eval_split=params.eval_split)
    folders = [splits.train or root, *([splits.eval] if splits.train and splits.eval else [])]
    parts = [
        [os.path.join(folder, name) for name in files_below(folder, (".json",))]
        for folder in folders
    ]
    files = [*itertools.chain.from_iterable(parts)]
    names = [path_below(root, file) for file in files]
    results = scan(root, names, examine_labelme, kind="labelme", options=_VERSION)
    finder = _ImageFinder(root, params.allow_outside)
    images = {
        file: finder.image(Path(file), result, params)
        for file, result in zip(files, results, strict=True)
        if result is not None
    }
    if not images:
        raise DataError(f"{short(root)} has no JSON file of labelme, with a list of shapes")
    _check_once([image for image in images.values() if not image.error])
    training, *evaluation = [[images[file] for file in part if file in images] for part in parts]
    used = [image.path for image in images.values()]
    notes = finder.notes(folders, used, len(files) - len(images))
    classes = _class_names(root, params, images.values())
    splits = splits if splits.train else Splits()
    return LabelmeData(classes, training, evaluation[0] if evaluation else None, notes, splits)


class _ImageFinder:
    """Finds the images of the JSON files.

    Args:
      root: the data folder.
      outside: whether images may be outside of it.
    """

    def __init__(self, root: Path, outside: bool) -> None:
        self._root, self._outside = root, outside
        self._images = [root / name for name in files_below(root, IMAGE_SUFFIXES)]
        counts = Counter(image.name for image in self._images)
        self._by_name = {image.name: image for image in self._images if counts[image.name] == 1}

    def image(self, file: Path, result: Any, options: LabelmeOptions) -> LabelmeImage:
        """Returns an image and its shapes."""
        if isinstance(result, Problem):
            return LabelmeImage(file, file, error=result.reason)
        name, height, width, rows = result
        left_out = options.left_out_shapes
        problems = [
            f"shape {place}: {problem}"
            for place, row in enumerate(json.loads(rows), 1)
            if (problem := _row_problem(row)) and (isinstance(row, str) or row[1] not in left_out)
        ]
        size = None if height is None or width is None else (height, width)
        return LabelmeImage(self._path(file, name), file, size, rows, left_out, problems)

    def _path(self, file: Path, name: str) -> Path:
        """Returns the image that a file names, or the one that moved with it."""
        folder, base = file.parent, os.path.basename(name.replace("\\", "/"))
        endings = (*IMAGE_SUFFIXES, *map(str.upper, IMAGE_SUFFIXES))
        path = (
            first_inside(self._root, [folder], name, allow_outside=self._outside)
            or next(filter(os.path.isfile, (folder / base, *map(file.with_suffix, endings))), None)
            or self._by_name.get(base)
        )
        if path or not name:
            return path or file.with_suffix(endings[0])
        return inside(
            self._root,
            name,
            base=path_below(self._root, folder),
            allow_outside=self._outside,
            source=file,
        )

    def notes(self, folders: Sequence[Path], used: Iterable[Path], foreign: int) -> list[str]:
        """Returns remarks about files that are left out."""
        described = {os.path.normpath(path) for path in used}
        without = [
            image
            for image in self._images
            if os.path.normpath(image) not in described and any(map(image.is_relative_to, folders))
        ]
        notes = []
        if without:
            notes.append(
                f"{len(without)} images have no JSON file and are left out, such as {without[0]}"
            )
        if foreign:
            notes.append(f"{foreign} JSON files have no shapes and are left out")
        return notes


def _check_once(images: Sequence[LabelmeImage]) -> None:
    path = find_repeated(image.path for image in images)
    if path is not None:
        first, second = [image.file for image in images if image.path == path][:2]
        raise DataError(f"both {first} and {second} describe {short(path)}; remove one of them")


def _class_names(
    root: Path, options: LabelmeOptions, images: Iterable[LabelmeImage]
) -> Sequence[str]:
    path = options.classes or first_existing(root, _CLASSES) or ""
    images = list(images)
    labels = {shape.label for image in images for shape in image.shapes}
    faults = (
        f"{image.file}, {image.problems[0]}" if image.problems else f"{image.file}: {image.error}"
        for image in images
        if image.problems or image.error
    )
    names = find_class_names(
        root, str(path), labels.difference([IGNORE, BACKGROUND]), next(faults, "")
    )
    names = [name for name in names if name != IGNORE and not is_background(name)]
    if not names:
        raise DataError(f"{short(path)} names no class")
    return names
