"""Reads a data set of YOLO: images, and the objects of each."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_vision.formats.yolo_labels import (
    YoloObject,
    examine_labels,
    find_form,
    form_problem,
)
from tf_frame_vision.formats.yolo_layout import Layout, YoloOptions, find_layout, labels_folder
from tf_frame_vision.reading.folders import visible
from tf_frame_vision.reading.scan import Problem, scan

_MISSING = "is missing"


@dataclasses.dataclass(frozen=True, slots=True)
class YoloImage:
    """An image and its objects.

    Attributes:
      path: the image.
      labels: its label file; without one it has no object.
      objects: those that can be used.
      problems: lines that cannot be used, such as `line 3: its class ...`.
      error: why the label file cannot be read; empty: it can.
    """

    path: Path
    labels: Path
    objects: Sequence[YoloObject] = ()
    problems: Sequence[str] = ()
    error: str = ""


@dataclasses.dataclass(frozen=True)
class YoloData:
    """A data set.

    Attributes:
      names: the classes.
      form: the form of the labels: see `yolo_labels`.
      training, evaluation: the images; None: there is no part to evaluate.
      notes: remarks for people, a line each.
      keypoints: numbers after each box that are points of a pose.
    """

    names: Sequence[str]
    form: str
    training: Sequence[YoloImage]
    evaluation: Sequence[YoloImage] | None
    notes: Sequence[str]
    keypoints: int = 0


def read_yolo(root: Path, options: YoloOptions, *, eval_split: str, outside: bool) -> YoloData:
    """Reads a data set.

    Args:
      root: the data folder.
      options: the form of the data set.
      eval_split: the option `--input.eval_split`.
      outside: the option `--input.allow_outside`.

    Raises:
      DataError: classes, images or labels cannot be found.
    """
    layout = find_layout(root, options, eval_split=eval_split, outside=outside)
    paths = [*layout.training, *(layout.evaluation or ())]
    labels = [labels_folder(path.parent, root) / f"{path.stem}.txt" for path in paths]
    results = scan(
        root,
        [os.path.relpath(path, root) for path in labels],
        functools.partial(examine_labels, keypoints=layout.keypoints),
        kind="labels",
        options=layout.keypoints,
    )
    missing = sum(isinstance(result, Problem) and result.reason == _MISSING for result in results)
    if missing == len(results):
        raise DataError(
            f"no image of {root} has a label file; that of {paths[0]} would be {labels[0]}"
        )
    images = [
        _image(path, file, result, layout)
        for path, file, result in zip(paths, labels, results, strict=True)
    ]
    form = find_form((each for image in images for each in image.objects), options.form)
    images = [_checked(image, form) for image in images]
    count = len(layout.training)
    notes = [*layout.notes, *_notes(layout, labels, missing)]
    evaluation = None if layout.evaluation is None else images[count:]
    return YoloData(layout.names, form, images[:count], evaluation, notes, layout.keypoints)


def _image(path: Path, labels: Path, result: object, layout: Layout) -> YoloImage:
    if isinstance(result, Problem):
        error = "" if result.reason == _MISSING else f"{labels} {result.reason}"
        return YoloImage(path, labels, error=error)
    assert isinstance(result, list)
    objects, problems = [], []
    for line, *content in result:
        if len(content) == 1:
            problems.append(f"line {line}: {content[0]}")
        elif content[0] >= len(layout.names):
            problems.append(
                f"line {line}: its class {content[0]} is none of the {len(layout.names)} of "
                f"{layout.names_file}, which count from 0"
            )
        else:
            objects.append(YoloObject(line, content[0], content[1], tuple(content[2])))
    return YoloImage(path, labels, objects, problems)


def _checked(image: YoloImage, form: str) -> YoloImage:
    """Makes problems of objects that do not belong to the form."""
    wrong = {each.line: problem for each in image.objects if (problem := form_problem(each, form))}
    if not wrong:
        return image
    return dataclasses.replace(
        image,
        objects=[each for each in image.objects if each.line not in wrong],
        problems=[*image.problems, *(f"line {line}: {why}" for line, why in wrong.items())],
    )


def _notes(layout: Layout, labels: Sequence[Path], missing: int) -> list[str]:
    notes = []
    if missing:
        notes.append(f"{missing} images have no label file: they show no object")
    if layout.keypoints:
        notes.append("the keypoints of the poses are left out; their boxes are used")
    names = {str(path) for path in labels}
    alone = [
        os.path.join(folder, name)
        for folder in sorted({path.parent for path in labels if path.parent.is_dir()})
        for name in visible(folder, folders=False)
        if name.lower().endswith(".txt") and os.path.join(folder, name) not in names
    ]
    alone = [path for path in alone if path != str(layout.names_file) and _has_object(path)]
    if alone:
        notes.append(f"{len(alone)} label files have no image, such as {alone[0]}")
    return notes


def _has_object(path: str) -> bool:
    """Returns whether a text file is a label file with an object."""
    rows = examine_labels(Path(path))
    return isinstance(rows, list) and any(len(row) > 2 for row in rows)
