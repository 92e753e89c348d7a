"""The input `image_folder`: a folder of images for each class.

For images of your own: nothing is converted, and the names of the folders are the classes.

data_dir/CLASS/*.jpg                                a part of them is held out for evaluation
data_dir/CLASS/*.jpg, eval_dir/CLASS/*.jpg          another folder is evaluated
data_dir/train/CLASS/*.jpg, data_dir/val/CLASS/*    the folder has both parts
data_dir/train/CLASS/*.jpg                          a part of them is held out
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_classification.inputs.labelled_images import LabelledImageOptions, LabelledImages
from tf_frame_vision.example_input import IMAGE_SUFFIXES, Split, absent_split
from tf_frame_vision.reading.folders import existing_folder, first_existing, held_out, visible

_TRAINING = "train"
_EVALUATION = ("validation", "val", "test")
_WHAT_TO_DO = (
    "Give --input.data_dir a folder with a folder of images for each class, or with two such"
    f" folders: {_TRAINING}, and {' or '.join(_EVALUATION)}"
)
# Names of the files of each class, by the class.
_Files = Mapping[str, Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Params(LabelledImageOptions):
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

    def find(self) -> None:
        params = self.params
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        folder, eval_folder = _folders(folder, params.eval_dir)
        files = _list_class_files(folder)
        classes = list(files)
        if eval_folder is None:
            training, held_out = _divided(files, params.eval_fraction)
            evaluation = _split(folder, held_out)
            if not evaluation.count:
                evaluation = absent_split(
                    f"--input.eval_fraction {params.eval_fraction} of {folder} leaves nothing to"
                    " evaluate. Make it larger, or give --input.eval_dir"
                )
            self.use(classes, _split(folder, training), evaluation)
            return
        eval_files = _list_class_files(eval_folder)
        _check_classes(eval_folder, eval_files, folder, classes)
        evaluated = {name: eval_files.get(name, ()) for name in classes}
        self.use(classes, _split(folder, files), _split(eval_folder, evaluated))

    def notes(self) -> Sequence[str]:
        """Names the kinds of files that are no images for this input."""
        folders = {Path(split.content[0]) for split in self.splits.values() if split.content}
        left_out = Counter(
            Path(name).suffix.lower() or "without suffix"
            for folder in folders
            for class_name in visible(folder, folders=True)
            for name in visible(folder / class_name, folders=False)
            if not name.lower().endswith(IMAGE_SUFFIXES)
        )
        kinds = ", ".join(f"{suffix} ({count})" for suffix, count in sorted(left_out.items()))
        return [f"files that are left out: {kinds}"] if kinds else []

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.inputs.examples import folder_examples

        root, names, labels = split.content
        return folder_examples(root, names, labels, order)


def _folders(folder: Path, eval_dir: str) -> tuple[Path, Path | None]:
    """Returns the folder to train on, and the one to evaluate if there is one."""
    if eval_dir:
        return folder, existing_folder(eval_dir, "--input.eval_dir", _WHAT_TO_DO)
    evaluation = first_existing(folder, _EVALUATION)
    if evaluation is not None and (folder / _TRAINING).is_dir() and evaluation.is_dir():
        return folder / _TRAINING, evaluation
    if evaluation is not None or not _holds_classes(folder / _TRAINING):
        return folder, None
    if visible(folder, folders=True) == [_TRAINING]:
        return folder / _TRAINING, None  # A part of these images is held out.
    raise DataError(
        f"{folder} has a folder {_TRAINING} with classes, but none that is called"
        f" {' or '.join(_EVALUATION)}. Add one, or give --input.data_dir"
        f" {folder / _TRAINING} to hold out some of its images."
    )


def _holds_classes(folder: Path) -> bool:
    """Returns whether there are folders and no images, as a class of this name would have."""
    return folder.is_dir() and bool(visible(folder, folders=True)) and not _pictures(folder)


def _list_class_files(folder: Path) -> _Files:
    classes = visible(folder, folders=True)
    if not classes:
        raise DataError(f"the folder {folder} has no folder in it. {_WHAT_TO_DO}.")
    return {name: _images(folder / name) for name in classes}


def _images(folder: Path) -> list[str]:
    images = _pictures(folder)
    if images:
        return images
    raise DataError(
        f"the class folder {folder} has no image: not one of its"
        f" {len(visible(folder, folders=False))} files ends in {', '.join(IMAGE_SUFFIXES)}."
        " Remove it, or put images there."
    )


def _pictures(folder: Path) -> list[str]:
    names = visible(folder, folders=False)
    return [name for name in names if name.lower().endswith(IMAGE_SUFFIXES)]


def _divided(files: _Files, fraction: float) -> tuple[_Files, _Files]:
    """Returns training and evaluation files; a class of several files has one of each at least.

    A fraction of 0 holds out nothing.
    """
    chosen = {name: held_out(images, fraction, prefix=f"{name}/") for name, images in files.items()}
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
    names, labels = [], []
    for label, (name, images) in enumerate(files.items()):
        names += [f"{name}/{image}" for image in images]
        labels += [label] * len(images)
    return Split(len(names), (str(folder), names, labels))
