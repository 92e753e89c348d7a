"""Reads a data set of YOLO: images, and the objects of each as columns of NumPy arrays."""

from __future__ import annotations

import base64
import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_vision.formats.yolo_labels import (
    COLUMNS,
    examine_labels,
    find_form,
    form_problem,
    has_object,
)
from tf_frame_vision.formats.yolo_layout import Layout, find_layout, labels_folder
from tf_frame_vision.reading.folders import visible
from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.scan import MISSING, Problem, scan
from tf_frame_vision.reading.splits import Splits

# Label files without an image that are opened, to tell them from notes of people.
_OPENED = 20
_ENDING = ".txt"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class YoloPart:
    """Images and their objects.

    Attributes:
      images: paths of the images.
      labels: the label file of each; without one an image has no object.
      ends: `[images + 1]`: the objects of image k are those from `ends[k]` to `ends[k + 1]`.
      lines: `[objects]`, the line of each, counted from 1.
      numbers: `[objects]`, the class of each, from 0 on.
      counts: `[objects]`, numbers after the class: 4 of a box, else two for each point.
      values: `[objects, 8]` float32, shares: `x, y` of each of four points; else centre, width and
        height of the box, or of the box around the points, and zeros.
      problems: number of an image -> lines that cannot be used, such as `line 3: its class ...`.
      errors: number of an image -> why its label file cannot be read, such as `it is no text ...`.
    """

    images: Sequence[str]
    labels: Sequence[str]
    ends: Any
    lines: Any
    numbers: Any
    counts: Any
    values: Any
    problems: Mapping[int, Sequence[str]]
    errors: Mapping[int, str]

    @property
    def edges(self) -> Any:
        """Upper, left, lower and right edge of the box of each object, `[objects, 4]`."""
        cx, cy, width, height = self.values[:, :4].T
        edges = np.stack([cy - height / 2, cx - width / 2, cy + height / 2, cx + width / 2], 1)
        points = self.values[self.counts == COLUMNS]
        xs, ys = points[:, ::2], points[:, 1::2]
        edges[self.counts == COLUMNS] = np.stack([ys.min(1), xs.min(1), ys.max(1), xs.max(1)], 1)
        return edges

    def image(self, number: int) -> int:
        """Returns the number of the image that has an object."""
        return int(np.searchsorted(self.ends, number, "right")) - 1


@dataclasses.dataclass(frozen=True)
class YoloData:
    """A data set.

    Attributes:
      names: the classes.
      form: the form of the labels: see `yolo_labels`.
      training, evaluation: the images; None: there is no part to evaluate.
      notes: remarks for people, a line each.
      splits: the parts by their names.
      keypoints: numbers after each box that are points of a pose.
    """

    names: Sequence[str]
    form: str
    training: YoloPart
    evaluation: YoloPart | None
    notes: Sequence[str]
    splits: Splits
    keypoints: int = 0


def read_yolo(root: Path, params: Any) -> YoloData:
    """Reads a data set.

    Args:
      root: the data folder.
      params: `YoloOptions`, `eval_split` and `allow_outside`.

    Raises:
      DataError: classes, images or labels cannot be found.
    """
    layout = find_layout(root, params)
    images = [*layout.training, *(layout.evaluation or ())]
    labels = _label_paths(images, root)
    results = scan(
        root,
        [path_below(root, label) for label in labels],
        functools.partial(examine_labels, keypoints=layout.keypoints),
        kind="labels",
        options=layout.keypoints,
    )
    missing = results.count(Problem(MISSING))
    if missing == len(results):
        raise DataError(
            f"no image of {short(root)} has a label file; that of {images[0]} would be {labels[0]}"
        )
    count = len(layout.training)
    parts = [
        _part(images[place], labels[place], results[place], layout)
        for place in (slice(count), slice(count, None))
    ]
    form = find_form(np.concatenate([part.counts for part in parts]), params.form)
    training, evaluation = (_with_form(part, form) for part in parts)
    return YoloData(
        names=layout.names,
        form=form,
        training=training,
        evaluation=None if layout.evaluation is None else evaluation,
        notes=[*layout.notes, *_notes(layout, labels, missing)],
        splits=layout.splits,
        keypoints=layout.keypoints,
    )


def _label_paths(images: Sequence[str], root: Path) -> list[str]:
    folders = {folder: labels_folder(folder, root) for folder in {*map(os.path.dirname, images)}}
    names = {folder: _other_endings(folder) for folder in {*folders.values()}}
    labels = []
    for image in images:
        folder, name = os.path.split(os.path.splitext(image)[0])
        folder, name = folders[folder], f"{name}{_ENDING}"
        labels.append(os.path.join(folder, names[folder].get(name, name)))
    return labels


def _other_endings(folder: str) -> dict[str, str]:
    """Returns the names of label files with the ending in upper case, by those in lower case."""
    if not os.path.isdir(folder):
        return {}
    names = visible(Path(folder), folders=False)
    stems = (os.path.splitext(name) for name in names)
    other = {stem + _ENDING: stem + end for stem, end in stems if end.lower() == _ENDING != end}
    return {name: there for name, there in other.items() if name not in names}


def _part(
    images: Sequence[str], labels: Sequence[str], results: Sequence[Any], layout: Layout
) -> YoloPart:
    rows, problems, errors = [], {}, {}
    nothing = np.zeros([0, 3 + COLUMNS], np.float32)
    for place, result in enumerate(results):
        rows.append(nothing)
        if not isinstance(result, Problem):
            packed, lines = result
            if packed:
                data = np.frombuffer(base64.b64decode(packed), "<f4")
                rows[-1] = data.reshape(-1, 3 + COLUMNS)
            if lines:
                problems[place] = lines
        elif result.reason != MISSING:
            errors[place] = result.reason
    table = np.concatenate([nothing, *rows])
    lines, numbers, counts = table[:, :3].T.astype(np.int32)
    part = YoloPart(
        images=images,
        labels=labels,
        ends=np.cumsum([0, *map(len, rows)]),
        lines=lines,
        numbers=numbers,
        counts=counts,
        values=table[:, 3:],
        problems=problems,
        errors=errors,
    )
    of = f"none of the {len(layout.names)} of {layout.names_file}, which count from 0"
    unknown = {
        number: f"its class {numbers[number]} is {of}"
        for number in np.flatnonzero(numbers >= len(layout.names)).tolist()
    }
    return _with_problems(part, unknown)


def _with_form(part: YoloPart, form: str) -> YoloPart:
    """Makes problems of objects that do not belong to the form."""
    wrong = {
        number: problem
        for number, count in enumerate(part.counts.tolist())
        if (problem := form_problem(count, form))
    }
    return _with_problems(part, wrong)


def _with_problems(part: YoloPart, wrong: Mapping[int, str]) -> YoloPart:
    """Adds problems of objects to those of their images."""
    problems = {place: [*lines] for place, lines in part.problems.items()}
    for number, problem in wrong.items():
        line = f"line {part.lines[number]}: {problem}"
        problems.setdefault(part.image(number), []).append(line)
    return dataclasses.replace(part, problems=problems)


def _notes(layout: Layout, labels: Sequence[str], missing: int) -> list[str]:
    notes = []
    if missing:
        notes.append(f"{missing} images have no label file: they show no object")
    if layout.keypoints:
        notes.append("the keypoints of the poses are left out; their boxes are used")
    names = {*labels, str(layout.names_file)}
    folders = sorted({os.path.dirname(path) for path in labels})
    alone = [
        path
        for folder in folders
        if os.path.isdir(folder)
        for name in visible(Path(folder), folders=False)
        if name.lower().endswith(_ENDING) and (path := os.path.join(folder, name)) not in names
    ]
    example = next((path for path in alone[:_OPENED] if has_object(Path(path))), None)
    if example:
        notes.append(f"{len(alone)} files of the labels have no image, such as {example}")
    return notes
