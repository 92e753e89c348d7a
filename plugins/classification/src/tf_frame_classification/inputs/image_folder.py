"""The input `image_folder`: a folder of images for each class.

For images of your own: nothing is converted, and the names of the folders are the classes.

data_dir/CLASS/*.jpg                                a part of them is held out for evaluation
data_dir/CLASS/*.jpg, eval_dir/CLASS/*.jpg          another folder is evaluated
data_dir/train/CLASS/*.jpg, data_dir/val/CLASS/*    the folder has both parts; see `splits`
data_dir/train/CLASS/*.jpg                          a part of them is held out

A class folder may have sub-folders: their images are of this class, too.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame.text_file import normal_name
from tf_frame_classification.inputs.labelled_images import LabelledImageOptions, LabelledImages
from tf_frame_vision.example_input import IMAGE_SUFFIXES, Split, absent_split
from tf_frame_vision.reading.folders import (
    HeldOutOptions,
    existing_folder,
    files_below,
    held_out,
    left_out_notes,
    name_some,
    visible,
)
from tf_frame_vision.reading.splits import LAYOUTS, Splits, check_held_out, find_splits, split_kind

_WHAT_TO_DO = (
    "Give --input.data_dir a folder with a folder of images for each class, or one with two such"
    f" folders: {LAYOUTS}"
)
# The files of each class by its name: paths below the folder of the classes.
_Files = Mapping[str, Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Params(HeldOutOptions, LabelledImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with a folder of images for each class; must be given")
    eval_dir: str = option("", "folder likewise, to evaluate; empty: see eval_fraction")
    eval_fraction: float = option(
        0.1,
        "part of each class that is held out for evaluation, where no folder is there for it; "
        "0: none, nothing is evaluated",
        min=0.0,
        max=0.9,
    )


class ImageFolder(LabelledImages):
    """Images in one folder for each class; labels follow the sorted names of the folders.

    The images held out follow from their names alone, so that they stay the same.
    """

    Params: ClassVar[type] = Params
    _left_out: Counter[str] = Counter()

    def find(self) -> None:
        params = self.params
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        self._left_out = Counter()
        self.parts = _find_parts(folder, params)
        folder = self.parts.train or folder
        files = self._list_files(folder)
        classes = list(files)
        if self.parts.eval is None:
            check_held_out(folder, params.eval_split)
            training, held = _divide(files, params.eval_fraction)
            evaluation = _split(folder, held)
            if not evaluation.count:
                evaluation = absent_split(
                    f"--input.eval_fraction {params.eval_fraction} of {folder} leaves nothing to"
                    " evaluate. Make it larger, or give --input.eval_dir"
                )
            self.use(classes, _split(folder, training), evaluation)
            return
        eval_files = self._list_files(self.parts.eval)
        _check_classes(self.parts.eval, eval_files, folder, classes)
        evaluated = {name: eval_files.get(name, ()) for name in classes}
        self.use(classes, _split(folder, files), _split(self.parts.eval, evaluated))

    def notes(self) -> Sequence[str]:
        """Names the parts that are not used, and the kinds of files that are left out."""
        return [*super().notes(), *left_out_notes(self._left_out)]

    def _list_files(self, folder: Path) -> _Files:
        """Returns the images of each class, in the order of the classes' names.

        Names of classes are compared in one normal form, as systems write accents differently.
        """
        files: dict[str, Sequence[str]] = {}
        for name in visible(folder, folders=True, left_out=self._left_out):
            images = files_below(folder / name, IMAGE_SUFFIXES, self._left_out)
            if not images:
                raise DataError(
                    f"the class folder {folder / name} has no image: it has"
                    f" {name_some(visible(folder / name, folders=False))}, and no file that ends in"
                    f" {', '.join(IMAGE_SUFFIXES)}. Remove it, or put images there."
                )
            class_name = normal_name(name)
            if class_name in files:
                raise DataError(
                    f"{folder} has two folders {class_name}, which differ only in the way that"
                    " their accents are stored; make one of them"
                )
            files[class_name] = [f"{name}/{image}" for image in images]
        _check_folders(folder, files)
        return files

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.inputs.examples import folder_examples

        root, names, labels = split.content
        return folder_examples(root, names, labels, order)


def _find_parts(folder: Path, params: Params) -> Splits:
    """Returns the folders to train on and to evaluate; both None: the folders are the classes."""
    splits = find_splits(folder, eval_split=params.eval_split)
    training = splits.train
    if training is None or not (splits.eval or splits.test or _holds_classes(training)):
        splits = Splits()
    else:
        used = {path.name for path in (training, splits.eval) if path}
        splits = dataclasses.replace(
            splits, unused=[name for name in visible(folder, folders=True) if name not in used]
        )
        if splits.eval is None and not params.eval_dir:
            _check_others(folder, splits)
    if params.eval_dir:
        evaluation = existing_folder(params.eval_dir, "--input.eval_dir", _WHAT_TO_DO)
        splits = dataclasses.replace(splits, train=splits.train or folder, eval=evaluation)
    return splits


def _check_others(folder: Path, splits: Splits) -> None:
    """Refuses unknown folders next to a training part without a part to evaluate."""
    others = [name for name in splits.unused if not split_kind(name)]
    if others:
        training = splits.train
        raise DataError(
            f"{folder} has a folder {training and training.name} with classes, and next to it"
            f" {name_some(others)}, which is no part of the data. Parts are called {LAYOUTS};"
            f" rename it, or give --input.data_dir {training} to hold out some of its images"
        )


def _holds_classes(folder: Path) -> bool:
    """Returns whether there are folders and no images, as a class of this name would have."""
    return bool(visible(folder, folders=True)) and not _has_images(folder)


def _has_images(folder: Path) -> bool:
    names = visible(folder, folders=False)
    return any(name.lower().endswith(IMAGE_SUFFIXES) for name in names)


def _check_folders(folder: Path, files: _Files) -> None:
    """Refuses a folder without class folders, and one around the folder of the classes."""
    if not files:
        names = name_some(visible(folder, folders=False), "no file either")
        raise DataError(f"the folder {folder} has no folder in it: {names}. {_WHAT_TO_DO}.")
    (first, images), *further = files.items()
    inner = folder / images[0].split("/")[0]
    if not further and _holds_classes(inner) and len(visible(inner, folders=True)) > 1:
        raise DataError(
            f"{folder} has the folder {first} only, with the folders"
            f" {name_some(visible(inner, folders=True))}; if these are the classes or the parts,"
            f" give {inner}"
        )


def _divide(files: _Files, fraction: float) -> tuple[_Files, _Files]:
    """Returns training and evaluation files; a class of several files has one of each at least.

    A fraction of 0 holds out nothing.
    """
    chosen = {name: held_out(images, fraction) for name, images in files.items()}
    training = {
        name: [image for image in images if image not in chosen[name]]
        for name, images in files.items()
    }
    return training, {name: sorted(images) for name, images in chosen.items()}


def _check_classes(
    eval_folder: Path, eval_files: _Files, folder: Path, classes: Sequence[str]
) -> None:
    unknown = sorted(set(eval_files) - set(classes))
    if unknown:
        raise DataError(
            f"{eval_folder} has the class {unknown[0]!r}, which {folder} has not; its classes are"
            f" {', '.join(classes)}. Rename or remove that folder."
        )


def _split(folder: Path, files: _Files) -> Split:
    names: list[str] = []
    labels: list[int] = []
    for label, images in enumerate(files.values()):
        names += images
        labels += [label] * len(images)
    return Split(len(names), (str(folder), names, labels))
