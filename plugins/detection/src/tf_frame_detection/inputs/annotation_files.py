"""Images, and a file of each that describes its objects: PASCAL VOC's XML, DOTA's text files.

The examination of a file gives `[size, rows]`: height and width or None, and a row for each object,
which JSON can hold:

    [record, class, is difficult, number, ...]    4 numbers: upper, left, lower, right; else 8:
                                                  row and column of each corner
    [record, reason]                              it cannot be used
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame import text_file
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.text_file import normal_name, split_words
from tf_frame_detection.inputs.annotations import (
    FolderContent,
    Marked,
    Part,
    Photograph,
    class_number,
    corner_box,
    number_classes,
)
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.formats.record_fields import RecordError
from tf_frame_vision.reading.class_names import find_class_names, find_repeated
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.folders import files_below, left_out_notes, visible
from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.scan import MISSING, Problem, scan
from tf_frame_vision.reading.splits import Splits, check_held_out, find_splits

# Of the results of examinations.
_VERSION = 3
# Length of the row of an object that cannot be used, and numbers of four corners.
_FAULTY, _CORNERS = 2, 8


@dataclasses.dataclass(frozen=True)
class AnnotatedFile:
    """An image and the file that describes it.

    Attributes:
      image: the image; of a description without an image, where it would be.
      file: the description.
      content: result of its examination; a `Problem` if it cannot be used or is missing.
    """

    image: Path
    file: Path
    content: Any


def read_list(path: Path, existing: Collection[str]) -> list[str]:
    """Returns the name in each line of a list.

    Args:
      path: the list.
      existing: names that there are. A line that is none of them is its first word, because
        lists of a class in PASCAL VOC have a number after the name; without the ending of a file
        if that is there.

    Raises:
      DataError: the list cannot be read, is empty, or has a name twice.
    """
    by_form = {normal_name(name): name for name in existing}
    lines = text_file.read_names(path)
    words = [by_form.get(normal_name(line)) or split_words(line)[0] for line in lines]
    names = [_without_ending(word, by_form) for word in words]
    if not names:
        raise DataError(f"the list {short(path)} is empty; write a name in each line")
    twice = find_repeated(names)
    if twice is not None:
        raise DataError(f"the list {short(path)} names {twice} twice; remove one line")
    return names


def _without_ending(name: str, by_form: Mapping[str, str]) -> str:
    stem, ending = os.path.splitext(name)
    if normal_name(name) in by_form or ending.lower() not in (*IMAGE_SUFFIXES, ".xml", ".txt"):
        return name
    return by_form.get(normal_name(stem), name)


def files_by_stem(
    folder: Path,
    suffixes: Sequence[str],
    left_out: Counter[str] | None = None,
    *,
    with_folders: bool = True,
) -> dict[str, Path]:
    """Returns the file of each path without ending, below the folder and in its normal form.

    Args:
      folder: the folder of the files; hidden files do not count.
      suffixes: endings in lower case; files may have them in upper case.
      left_out: counts hidden files, and in folders of their own other files; see `files_below`.
      with_folders: whether sub-folders are read.

    Raises:
      DataError: two files have one name.
    """
    names = (
        files_below(folder, suffixes, left_out)
        if with_folders
        else visible(folder, folders=False, left_out=left_out)
    )
    files: dict[str, str] = {}
    for name in names:
        stem, suffix = os.path.splitext(name)
        if suffix.lower() in suffixes:
            stem = normal_name(stem)
            if stem in files:
                raise DataError(f"{short(folder)} has both {files[stem]} and {name}; remove one")
            files[stem] = name
    return {stem: folder / name for stem, name in files.items()}


def find_files(
    folders: tuple[Path, Path], suffix: str, left_out: Counter[str] | None = None
) -> tuple[Mapping[str, Path], Mapping[str, Path]]:
    """Returns images and descriptions by their names; see `files_by_stem`.

    Args:
      folders: of the images, and of the descriptions; side by side, sub-folders may be other parts.
      suffix: ending of the descriptions, such as `.xml`.
      left_out: counts files that are left out.
    """
    if folders[0] == folders[1]:
        images = files_by_stem(folders[0], IMAGE_SUFFIXES, left_out, with_folders=False)
        return images, files_by_stem(folders[1], (suffix,), with_folders=False)
    images = files_by_stem(folders[0], IMAGE_SUFFIXES, left_out)
    return images, files_by_stem(folders[1], (suffix,), left_out)


def part_folders(
    folders: tuple[Path, Path], eval_split: str
) -> tuple[list[tuple[Path, Path]], Splits]:
    """Returns the folders of images and of descriptions of each part, and the parts.

    Without parts of the same names in both folders, these are the only part.

    Args:
      folders: of the images, and of the descriptions.
      eval_split: the option `--input.eval_split`.

    Raises:
      DataError: the test part is asked for, and there is none.
    """
    images, descriptions = folders
    splits = find_splits(images, eval_split=eval_split)
    if splits.train is None or not (descriptions / splits.train.name).is_dir():
        check_held_out(images, eval_split)
        return [folders], Splits()
    parts = [part for part in (splits.train, splits.eval) if part]
    return [(part, descriptions / part.name) for part in parts], splits


def read_files(
    root: Path,
    folders: tuple[Path, Path],
    suffix: str,
    names: Sequence[str] | None,
    examine: Callable[[Path], Any],
    left_out: Counter[str],
    *,
    kind: str,
) -> list[AnnotatedFile]:
    """Reads the files that describe images of the same names, unless an earlier start has done so.

    Args:
      root: the data folder.
      folders: of the images, and of the descriptions.
      suffix: ending of the descriptions, such as `.xml`.
      names: names without ending; None: all that there are.
      examine, kind: see `scan`; the module says what `examine` returns.
      left_out: counts files that are left out.
    """
    images, files = find_files(folders, suffix, left_out)
    stems = sorted({*images, *files}) if names is None else [normal_name(name) for name in names]
    pairs = [
        (images.get(s, folders[0] / f"{s}.jpg"), files.get(s, folders[1] / f"{s}{suffix}"))
        for s in stems
    ]
    paths = [path_below(root, file) for _, file in pairs]
    results = scan(root, paths, examine, kind=kind, options=_VERSION)
    return [
        AnnotatedFile(image, file, result)
        for (image, file), result in zip(pairs, results, strict=True)
    ]


def make_content(
    root: Path,
    parts: Sequence[Sequence[AnnotatedFile]],
    params: Any,
    *,
    record_word: str,
    splits: Splits,
    left_out: Counter[str],
) -> FolderContent:
    """Returns classes and photographs.

    Args:
      root: the data folder.
      parts: files to train on, and perhaps to evaluate.
      params: options `classes` and `ignore_difficult`.
      record_word: what the files call the place of an object, such as `line`.
      splits: the parts by their names.
      left_out: counts files that are left out.

    Raises:
      DataError: the file of the classes is wrong, or there is no class.
    """
    files = [one for part in parts for one in part if not isinstance(one.content, Problem)]
    found = {row[1] for one in files for row in one.content[1] if len(row) > _FAULTY and row[1]}
    fault = "" if found else _first_fault(parts, record_word)
    names = find_class_names(root, params.classes, found, fault)
    make_photograph = functools.partial(
        _make_photograph,
        classes=number_classes(names),
        record_word=record_word,
        ignore_difficult=params.ignore_difficult,
    )
    training, evaluation = (_make_part(part, make_photograph) for part in (*parts, ())[:2])
    evaluated = evaluation if len(parts) > 1 else None
    notes = left_out_notes(left_out)
    return FolderContent(names, training, evaluated, notes, splits=splits)


def _first_fault(parts: Sequence[Sequence[AnnotatedFile]], record_word: str) -> str:
    """Returns the line of the first annotation that cannot be used; empty if there is none."""
    for one in itertools.chain(*parts):
        if isinstance(one.content, Problem):
            return _damage(one)
        # The second field is the reason, or else a name, which may be empty.
        faulty = next((row for row in one.content[1] if len(row) == _FAULTY or not row[1]), None)
        if faulty:
            reason = faulty[1] or "its class has no name"
            return f"{one.file}, {record_word} {faulty[0]}: {reason}"
    return ""


def _make_part(
    part: Sequence[AnnotatedFile], make_photograph: Callable[[AnnotatedFile], Photograph]
) -> Part:
    usable = [one for one in part if not isinstance(one.content, Problem)]
    damaged = [_damage(one) for one in part if isinstance(one.content, Problem)]
    return [*map(make_photograph, usable)], damaged


def _make_photograph(
    annotated: AnnotatedFile, classes: Mapping[str, int], record_word: str, ignore_difficult: bool
) -> Photograph:
    size, rows = annotated.content
    marks, problems = [], []
    for row in rows:
        record = f"{record_word} {row[0]}"
        try:
            if len(row) == _FAULTY:
                raise RecordError(row[1])
            _, name, difficult, *numbers = row
            corners = tuple(numbers) if len(numbers) == _CORNERS else ()
            box = corner_box(corners) if corners else tuple(numbers)
            ignored = difficult and ignore_difficult
            marks.append(Marked(box, class_number(classes, name), record, ignored, corners=corners))
        except RecordError as error:
            problems.append(f"{record}: {error}")
    size = (size[0], size[1]) if size else None
    return Photograph(annotated.image, str(annotated.file), marks, size, problems=problems)


def _damage(annotated: AnnotatedFile) -> Damage:
    """Returns the line of an image: its description cannot be used or is missing."""
    if annotated.content.reason == MISSING:
        return Damage.of_file(
            annotated.image,
            f"it has no annotation: write {annotated.file}, without an object if the image shows "
            "none",
            "it has no annotation",
        )
    return Damage.of_file(annotated.file, annotated.content.reason)
