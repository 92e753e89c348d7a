"""Reads a folder of images and JSON files of labelme; see `labelme_shapes`."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.visible_files import walk_files
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.formats.labelme_shapes import (
    BACKGROUND,
    IGNORE,
    LabelmeShape,
    examine_labelme,
    shape_problem,
)
from tf_frame_vision.reading.class_names import find_class_names, find_repeated
from tf_frame_vision.reading.folders import first_existing
from tf_frame_vision.reading.inside import inside
from tf_frame_vision.reading.scan import Problem, scan
from tf_frame_vision.reading.splits import find_splits

_CLASSES = ("classes.txt", "labels.txt")


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
      shapes: those that can be used.
      problems: shapes that cannot be used, such as `shape 2: its polygon has ...`.
      error: why the file cannot be used, such as `it is no JSON ...`; empty: it can.
    """

    path: Path
    file: Path
    size: tuple[int, int] | None = None
    shapes: Sequence[LabelmeShape] = ()
    problems: Sequence[str] = ()
    error: str = ""


@dataclasses.dataclass(frozen=True)
class LabelmeData:
    """A folder of images and JSON files.

    Attributes:
      names: the classes, without `IGNORE` and `BACKGROUND`.
      training, evaluation: the images; None: there is no part to evaluate.
      notes: remarks for people, a line each.
    """

    names: Sequence[str]
    training: Sequence[LabelmeImage]
    evaluation: Sequence[LabelmeImage] | None
    notes: Sequence[str]


def read_labelme(
    root: Path, options: LabelmeOptions, *, eval_split: str, outside: bool
) -> LabelmeData:
    """Reads a folder: parts are sub-folders with the names of parts.

    Args:
      root: the data folder.
      options: the form of the folder.
      eval_split: the option `--input.eval_split`.
      outside: the option `--input.allow_outside`.

    Raises:
      DataError: there is no JSON file of labelme, a path leads out of the folder, or two files
        describe one image.
    """
    splits = find_splits(root, eval_split=eval_split)
    folders = [splits.train or root, *([splits.eval] if splits.train and splits.eval else [])]
    paths = [[path for path in _files(folder) if path.endswith(".json")] for folder in folders]
    files = [path for part in paths for path in part]
    results = scan(
        root, [os.path.relpath(path, root) for path in files], examine_labelme, kind="labelme"
    )
    finder = _ImageFinder(root, outside)
    images = {
        path: finder.image(Path(path), result, options)
        for path, result in zip(files, results, strict=True)
        if result is not None
    }
    if not images:
        raise DataError(f"{root} has no JSON file of labelme, with a list of shapes")
    _check_once([image for image in images.values() if not image.error])
    parts = [[images[path] for path in part if path in images] for part in paths]
    used = [image.path for image in images.values()]
    notes = [*splits.notes(), *finder.notes(folders, used, len(files) - len(images))]
    names = _class_names(root, options, images.values())
    return LabelmeData(names, parts[0], parts[1] if len(parts) > 1 else None, notes)


class _ImageFinder:
    """Finds the images of the JSON files.

    Args:
      root: the data folder.
      outside: whether images may be outside of it.
    """

    def __init__(self, root: Path, outside: bool) -> None:
        self._root, self._outside = root, outside
        self._images = [path for path in _files(root) if path.lower().endswith(IMAGE_SUFFIXES)]
        names = Counter(map(os.path.basename, self._images))
        self._by_name = {
            name: path for path in self._images if names[name := os.path.basename(path)] == 1
        }

    def image(self, file: Path, result: Any, options: LabelmeOptions) -> LabelmeImage:
        """Returns an image, and the shapes that can be used."""
        if isinstance(result, Problem):
            return LabelmeImage(file, file, error=result.reason)
        name, height, width, rows = result
        shapes, problems = [], []
        for place, row in enumerate(rows, 1):
            if isinstance(row, list) and row[1] in options.left_out_shapes:
                continue
            problem = row if isinstance(row, str) else shape_problem(row[1], row[3])
            if problem:
                problems.append(f"shape {place}: {problem}")
            else:
                shapes.append(LabelmeShape(place, *row))
        size = None if height is None or width is None else (height, width)
        return LabelmeImage(self._path(file, name), file, size, shapes, problems)

    def _path(self, file: Path, name: str) -> Path:
        """Returns the image that a file names, or the one that moved with it."""
        base = name.replace("\\", "/")
        beside = (file.with_suffix(ending) for ending in _endings())
        candidates = [file.parent / os.path.basename(base), *beside]
        if name:
            named = os.path.normpath(file.parent / base)
            if self._outside or os.path.relpath(named, self._root).split(os.sep)[0] != "..":
                candidates.insert(0, Path(named))
        path = next((path for path in candidates if path.is_file()), None)
        moved = self._by_name.get(os.path.basename(base))
        if path or moved:
            return path or Path(moved or "")
        if not name:
            return file.with_suffix(IMAGE_SUFFIXES[0])
        folder = os.path.relpath(file.parent, self._root)
        is_absolute = base.startswith("/") or base[1:2] == ":"
        return inside(
            self._root,
            base if is_absolute else os.path.join(folder, base),
            allow_outside=self._outside,
            source=file,
        )

    def notes(self, folders: Sequence[Path], used: Iterable[Path], foreign: int) -> list[str]:
        """Returns remarks about files that are left out."""
        described = {os.path.normpath(path) for path in used}
        without = [
            path
            for path in self._images
            if os.path.normpath(path) not in described
            and any(Path(path).is_relative_to(folder) for folder in folders)
        ]
        notes = []
        if without:
            notes.append(
                f"{len(without)} images have no JSON file and are left out, such as {without[0]}"
            )
        if foreign:
            notes.append(f"{foreign} JSON files have no shapes and are left out")
        return notes


def _endings() -> Sequence[str]:
    return [*IMAGE_SUFFIXES, *map(str.upper, IMAGE_SUFFIXES)]


def _files(folder: Path) -> list[str]:
    try:
        return sorted(walk_files(str(folder)))
    except OSError as error:
        raise DataError(f"the folder {error.filename} cannot be read: {error.strerror}") from None


def _check_once(images: Sequence[LabelmeImage]) -> None:
    path = find_repeated(image.path for image in images)
    if path is not None:
        one, other = [image.file for image in images if image.path == path][:2]
        raise DataError(f"both {one} and {other} describe {path}; remove one of them")


def _class_names(
    root: Path, options: LabelmeOptions, images: Iterable[LabelmeImage]
) -> Sequence[str]:
    path = options.classes or first_existing(root, _CLASSES) or ""
    special = (IGNORE, BACKGROUND)
    labels = (shape.label for image in images for shape in image.shapes)
    found = find_class_names(root, str(path), (name for name in labels if name not in special))
    names = [name for name in found if name not in special]
    if not names:
        raise DataError(f"{path} names no class")
    return names
