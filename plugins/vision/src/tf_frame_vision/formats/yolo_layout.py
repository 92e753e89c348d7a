"""Images and classes of a data set of YOLO, in the layouts that programs export.

    data.yaml                        Ultralytics, CVAT: `path`, `train`, `val`, `test`, `names`
    images/train/a.jpg               and images/val; labels/train/a.txt
    train/images/a.jpg               Roboflow, with valid and test; train/labels/a.txt
    images/a.jpg, labels/a.txt       Label Studio, with classes.txt
    train.txt, valid.txt             Darknet, CVAT's YOLO 1.1: lists of images; obj.names
    a.jpg, a.txt                     side by side, labelImg's classes.txt

The labels of an image are in `labels` where its path has `images`, else next to the image. An image
without a label file has no object. Sources: docs.ultralytics.com/datasets/detect,
docs.cvat.ai/docs/manual/advanced/formats/format-yolo and format-yolo-ultralytics.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import brief, short
from tf_frame.text_file import BLANKS, read_lines
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.formats.data_yaml import count_keypoints, parse_names, read_yaml
from tf_frame_vision.formats.yolo_labels import AUTO, BOXES, OBB, SEGMENTS
from tf_frame_vision.reading.class_names import read_class_names
from tf_frame_vision.reading.folders import files_below, first_existing
from tf_frame_vision.reading.inside import first_inside, inside, longest_end, path_below
from tf_frame_vision.reading.splits import EVAL, TEST, TRAIN, Splits, find_splits, split_kind

_YAML = ("data.yaml", "dataset.yaml", "data.yml")
_NAMES = ("classes.txt", "obj.names", "labels/classes.txt", "train/_darknet.labels")
_IMAGES, _LABELS = "images", "labels"


@dataclasses.dataclass(frozen=True)
class YoloOptions:
    """Options of the form of a data set."""

    data_yaml: str = option("", "file of folders and classes; empty: data.yaml of the folder")
    classes: str = option(
        "", "file of the classes, a line each; empty: names of data.yaml, classes.txt, obj.names"
    )
    form: str = option(
        AUTO,
        "form of the labels; auto: the lines tell, and where all have four points they are obb",
        choices=(AUTO, BOXES, OBB, SEGMENTS),
    )


@dataclasses.dataclass(frozen=True)
class Layout:
    """Images and classes of a data set.

    Attributes:
      names: the classes.
      names_file: the file of the classes.
      training, evaluation: paths of the images; None: there is no part to evaluate.
      keypoints: numbers after each box that are points of a pose.
      notes: remarks for people, a line each.
      splits: the parts by their names.
    """

    names: Sequence[str]
    names_file: Path
    training: Sequence[str]
    evaluation: Sequence[str] | None
    keypoints: int = 0
    notes: Sequence[str] = ()
    splits: Splits = dataclasses.field(default_factory=Splits)


def find_layout(root: Path, params: Any) -> Layout:
    """Finds the images and the classes of a data set.

    Args:
      root: the data folder.
      params: `YoloOptions`, `eval_split` and `allow_outside`.

    Raises:
      DataError: the classes, or the images to train on, cannot be found.
    """
    path = _option_path(params.data_yaml) or first_existing(root, _YAML)
    content = read_yaml(path) if path else {}
    names, names_file = _class_names(root, params, path, content)
    finder = _Finder(root, path or root, params.allow_outside)
    finder.notes += _other_names(root, names, names_file)
    if path and content.get("train"):
        training, evaluation = finder.from_yaml(content, params.eval_split)
    else:
        training, evaluation = finder.from_names(params.eval_split)
    if not training:
        raise DataError(f"{short(root)} has no image to train on; is it a data set of YOLO?")
    training, evaluation = finder.unique(training), evaluation and finder.unique(evaluation)
    keypoints = count_keypoints(path, content)
    return Layout(names, names_file, training, evaluation, keypoints, finder.notes, finder.splits)


def labels_folder(folder: str, root: Path) -> str:
    """Returns the folder of the label files for a folder of images: see the module.

    Folders above the data folder do not count.
    """
    parts = Path(path_below(root, folder)).parts
    if _IMAGES not in parts:
        return folder
    place = len(parts) - 1 - parts[::-1].index(_IMAGES)
    labels = root.joinpath(*parts[:place], _LABELS)
    return str(labels.joinpath(*parts[place + 1 :])) if labels.is_dir() else folder


def _images_below(folder: Path) -> list[str]:
    folder = first_existing(folder, (_IMAGES,)) or folder
    return sorted(os.path.join(folder, name) for name in files_below(folder, IMAGE_SUFFIXES))


class _Finder:
    """Finds the images of the parts.

    Args:
      root: the data folder.
      source: data.yaml, or the data folder.
      outside: whether images may be outside of the data folder.
    """

    def __init__(self, root: Path, source: Path, outside: bool) -> None:
        self._root, self._source, self._outside = root, source, outside
        self.notes: list[str] = []
        self.splits = Splits()

    def from_yaml(self, content: Any, eval_split: str) -> tuple[list[str], list[str] | None]:
        """Returns the images of `train`, and of `val` or `test` if the file has it."""
        keys: dict[str, str] = {}
        for key in filter(split_kind, content):
            kind = split_kind(key)
            if kind in keys:
                raise DataError(f"{self._source} has both {keys[kind]} and {key}; remove one")
            if content[key]:
                keys[kind] = key
        wanted = TEST if eval_split == TEST else EVAL
        if wanted == TEST and TEST not in keys:
            raise DataError(f"--input.eval_split test: {self._source} has no line test: ...")
        test = self._end(str(content[keys[TEST]])) if TEST in keys else None
        if wanted == EVAL and test:
            self.splits = Splits(test=Path(TEST), unused=[TEST])
        training, evaluation = (
            self._part(content, keys[kind]) if kind in keys else None for kind in (TRAIN, wanted)
        )
        return training or [], evaluation

    def from_names(self, eval_split: str) -> tuple[list[str], list[str] | None]:
        """Returns the images of folders or lists with the names of parts."""
        for folder, ending in ((self._root / _IMAGES, ""), (self._root, ""), (self._root, ".txt")):
            if folder.is_dir():
                splits = find_splits(folder, eval_split=eval_split, ending=ending)
                if splits.train:
                    self.splits = splits
                    evaluation = self._images(splits.eval) if splits.eval else None
                    return self._images(splits.train), evaluation
        return _images_below(self._root), None

    def unique(self, images: Sequence[str]) -> list[str]:
        """Returns each image once."""
        once = [*dict.fromkeys(images)]
        if len(once) < len(images):
            self.notes.append(f"{len(images) - len(once)} lines repeat an image, which counts once")
        return once

    def _part(self, content: Any, key: str) -> list[str]:
        values = content[key] if isinstance(content[key], list) else [content[key]]
        base = str(content.get("path") or "")
        return [
            image
            for value in values
            for image in self._images(self._place(f"{self._source}, {key}", base, value))
        ]

    def _place(self, source: str, base: str, value: Any) -> Path:
        """Returns a folder or list of data.yaml, which may come from another machine."""
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{short(source)}: {brief(value)} is no path of a folder or list")
        folder = self._source.parent
        path = self._existing((folder / base, folder), value)
        if path is not None:
            return path
        path = self._end(os.path.join(base, value))
        if path is None:
            inside(self._root, value, allow_outside=self._outside, source=source)
            raise DataError(f"{short(source)}: there is no {value} in {short(self._root)}")
        name = path_below(self._root, path)
        # Roboflow writes ../train/images for train/images.
        if value.lstrip("./") != name:
            self.notes.append(f"{source}: {value} is read as {name}")
        return path

    def _images(self, place: Path) -> list[str]:
        """Returns the images of a folder, or those that a file lists."""
        if place.is_dir():
            return _images_below(place)
        lines = [line.strip(BLANKS) for line in read_lines(place)]
        return [str(self._listed(place, line)) for line in lines if line]

    def _listed(self, place: Path, line: str) -> Path:
        path = self._existing((place.parent, self._root), line) or self._end(line)
        return path or inside(self._root, line, allow_outside=self._outside, source=place)

    def _existing(self, folders: Sequence[Path], name: str) -> Path | None:
        outside = self._outside
        return first_inside(self._root, folders, name, allow_outside=outside, exists=os.path.exists)

    def _end(self, name: str) -> Path | None:
        return longest_end(self._root, name, os.path.exists)


def _option_path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _other_names(root: Path, names: Sequence[str], source: Path) -> list[str]:
    """Returns a note if a further file of the data folder names other classes."""
    other = first_existing(root, _NAMES)
    if other is None or other == source:
        return []
    try:
        is_same = read_class_names(other) == list(names)
    except DataError:
        is_same = False  # Nothing needs the file.
    return [] if is_same else [f"the classes are those of {source}; {other} has others"]


def _class_names(
    root: Path, options: YoloOptions, yaml: Path | None, content: Any
) -> tuple[list[str], Path]:
    """Returns the classes, and the file that names them."""
    path = _option_path(options.classes)
    if path is None and yaml and (content.get("names") or content.get("nc")):
        return parse_names(yaml, content), yaml
    path = path or first_existing(root, _NAMES)
    if path is None:
        raise DataError(
            f"{short(root)} has no data.yaml with names, and no classes.txt; write the name of a "
            "class in each line of classes.txt, from class 0 on"
        )
    return read_class_names(path), path
