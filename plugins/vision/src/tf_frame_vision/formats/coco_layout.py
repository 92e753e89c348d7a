"""Files of a data set in COCO's format, in the layouts that programs export.

    annotations/instances_train2017.json   COCO: and instances_val2017.json; train2017/a.jpg
    annotations/instances_default.json     CVAT: images/default/a.jpg, or images/a.jpg
    train/_annotations.coco.json           Roboflow: next to the images, with valid and test
    result.json                            Label Studio: images/a.jpg
    annotations.json                       labelme2coco: JPEGImages/a.jpg

Sources: cocodataset.org, docs.cvat.ai/docs/manual/advanced/formats/format-coco,
roboflow.com/formats/coco-json, HumanSignal/label-studio-sdk, `converter`; wkentaro/labelme,
`examples/instance_segmentation`.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_vision.reading.folders import first_existing, visible
from tf_frame_vision.reading.inside import first_inside, inside, longest_end, path_below
from tf_frame_vision.reading.splits import TEST, Splits, check_one_choice, find_splits

_INSTANCES, _ENDING = "instances_", ".json"
_ROBOFLOW = "_annotations.coco.json"


@dataclasses.dataclass(frozen=True)
class CocoOptions:
    """Options that say where the files are."""

    train_annotations: str = option(
        "",
        "JSON file to train on, below data_dir; empty: annotations/instances_train*.json, "
        "train/_annotations.coco.json, or the only JSON file there is",
    )
    eval_annotations: str = option(
        "", "JSON file to evaluate; empty: the one of val in the same layout, if it is there"
    )
    train_images: str = option(
        "", "folder of the images to train on; empty: train2017, train, images, or data_dir itself"
    )
    eval_images: str = option("", "folder of those to evaluate; empty: val2017, val, images ...")


@dataclasses.dataclass(frozen=True)
class CocoFile:
    """A JSON file and the folder of its images."""

    path: Path
    images: Path


@dataclasses.dataclass(frozen=True)
class CocoLayout:
    """The JSON files of a data set.

    Attributes:
      training: the file to train on.
      evaluation: the file to evaluate; None: there is none.
      splits: the parts by their names.
    """

    training: CocoFile
    evaluation: CocoFile | None = None
    splits: Splits = dataclasses.field(default_factory=Splits)


def find_coco(root: Path, params: Any) -> CocoLayout:
    """Finds the JSON files of a data set.

    Args:
      root: the data folder.
      params: `CocoOptions` and `eval_split`.

    Raises:
      ConfigError: two options choose the file to evaluate.
      DataError: no file, or more than one, can be meant.
    """
    splits = _by_names(root, params.eval_split)
    training, evaluation = _json_file(splits.train), _json_file(splits.eval)
    if params.train_annotations:
        training = root / params.train_annotations
        # A file of other parts may hold the same images.
        evaluation = evaluation if params.eval_split == TEST else None
    if params.eval_annotations:
        check_one_choice(params, "eval_annotations")
        evaluation = root / params.eval_annotations
    if training is None:
        training = _only_file(root, evaluation)
    parts = [part for part in (splits.train, splits.eval, splits.test) if part]
    others = [part.name for part in parts if _json_file(part) not in (training, evaluation)]
    if params.train_annotations or params.eval_annotations:
        splits = dataclasses.replace(splits, test=None)
    splits = dataclasses.replace(splits, unused=[*dict.fromkeys((*splits.unused, *others))])
    return CocoLayout(
        _with_images(root, training, params.train_images, "train"),
        _with_images(root, evaluation, params.eval_images, "val") if evaluation else None,
        splits,
    )


def find_image(file: CocoFile, name: str, root: Path, *, outside: bool) -> Path:
    """Returns the image that a JSON file names.

    `file_name` is a path below the folder of the images, of the JSON file, or of the data; else
    the longest end of a path of another machine that the folder of the images has.

    Args:
      file: the JSON file.
      name: `file_name`.
      root: the data folder.
      outside: whether the path may lead out of the data folder.

    Raises:
      DataError: it does so.
    """
    folders = (file.images, file.path.parent, root)
    return (
        first_inside(root, folders, name, allow_outside=outside)
        or longest_end(file.images, name)
        or inside(
            root,
            name,
            base=path_below(root, file.images),
            allow_outside=outside,
            source=file.path,
        )
    )


class ImageFinder:
    """Finds the images that a JSON file names, most of them by one look at the disk.

    Args:
      file, root, outside: see `find_image`.
    """

    def __init__(self, file: CocoFile, root: Path, *, outside: bool) -> None:
        self._file, self._root, self._outside = file, root, outside
        folders = dict.fromkeys((file.images, file.path.parent, root))
        prefixes = [os.path.join(path_below(root, folder), "") for folder in folders]
        self._prefixes = [
            prefix.removeprefix("./") for prefix in prefixes if not prefix.startswith("../")
        ]

    def __call__(self, name: str) -> str:
        """Returns the path of an image below the data folder; see `find_image`."""
        slashed = name.replace("\\", "/")
        is_plain = slashed[0] not in "/." and "//" not in slashed and "/." not in slashed
        for prefix in self._prefixes if is_plain else ():
            if os.path.isfile(os.path.join(self._root, prefix + slashed)):
                return prefix + slashed
        path = find_image(self._file, name, self._root, outside=self._outside)
        return path_below(self._root, path)


def _by_names(root: Path, eval_split: str) -> Splits:
    """Returns the files of COCO's and CVAT's layouts, or the folders of Roboflow's."""
    annotations = root / "annotations"
    if annotations.is_dir():
        splits = find_splits(annotations, eval_split=eval_split, before=_INSTANCES, ending=_ENDING)
        if splits.train or splits.eval:
            return splits
    splits = find_splits(root, eval_split=eval_split)
    parts = (splits.train, splits.eval, splits.test)
    train, evaluation, test = (
        part if part and (part / _ROBOFLOW).exists() else None for part in parts
    )
    return Splits(train, evaluation, test, splits.unused) if train else Splits()


def _json_file(part: Path | None) -> Path | None:
    return part / _ROBOFLOW if part and part.is_dir() else part


def _only_file(root: Path, evaluation: Path | None) -> Path:
    """Returns the only JSON file of the folder, or of its folder `annotations`."""
    names: list[str] = []
    for folder in (root, root / "annotations"):
        if folder.is_dir():
            names = [name for name in visible(folder, folders=False) if name.endswith(_ENDING)]
            paths = [folder / name for name in names if folder / name != evaluation]
            if len(paths) == 1:
                return paths[0]
            if paths:
                break
    raise DataError(
        f"{short(root)} has no annotations/instances_train*.json, and {len(names)} JSON files; "
        "say which one to train on: --input.train_annotations FILE"
    )


def _with_images(root: Path, path: Path, given: str, part: str) -> CocoFile:
    """Returns a JSON file with the folder of its images."""
    if given or path.name == _ROBOFLOW:
        return CocoFile(path, root / given if given else path.parent)
    split = path.stem.removeprefix(_INSTANCES)
    words = (split, split.rstrip("0123456789"), f"{part}2017", part)
    names = [*words, *(f"images/{word}" for word in words), "images"]
    return CocoFile(path, first_existing(root, names) or root)
