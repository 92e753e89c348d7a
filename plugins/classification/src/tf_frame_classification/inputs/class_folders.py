"""Finds a folder of images for each class, in the parts of a data set that has any."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tf_frame import DataWarning
from tf_frame.errors import DataError
from tf_frame.text import brief, listed, short
from tf_frame.text_file import is_unicode, normal_name
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.reading.folders import files_below, name_some, visible
from tf_frame_vision.reading.splits import LAYOUTS, TRAIN, Splits, find_splits, split_kind

# The files of each class by its name: paths below the folder of the classes.
ClassFiles = Mapping[str, Sequence[str]]


def find_parts(folder: Path, *, eval_split: str = "val", any_eval: bool = False) -> Splits:
    """Returns the parts of a folder of classes; none: the folders are the classes.

    Args:
      folder: the folder.
      eval_split: the option `--input.eval_split`.
      any_eval: whether a folder elsewhere is evaluated.

    Raises:
      DataError: there are classes to train on, and it is not clear whether unknown folders next to
        them are a part; see also `find_splits`.
    """
    splits = find_splits(folder, eval_split=eval_split)
    training = splits.train
    if training is None or not (splits.eval or splits.test or _holds_classes(training)):
        return Splits()
    used = {path.name for path in (training, splits.eval) if path}
    unused = [name for name in visible(folder, folders=True) if name not in used]
    unknown_names = [name for name in unused if not split_kind(name)]
    if unknown_names and not splits.eval and not any_eval:
        raise DataError(
            f"{short(folder)} has a folder {training.name} with classes, and next to it"
            f" {name_some(unknown_names)}, which is no part of the data. Parts are called"
            f" {LAYOUTS}; rename it, or give {training} to hold out some of its images"
        )
    return dataclasses.replace(splits, unused=unused)


def list_class_files(folder: Path, left_out: Counter[str]) -> ClassFiles:
    """Returns the images of each class, in the order of the classes' names.

    Names of classes are compared in one normal form, as systems write accents differently.

    Args:
      folder: the folder of the classes.
      left_out: counts files that are no images; see `files_below`.

    Raises:
      DataError: there is no class, one has no image, or the folder is one around the classes.
    """
    files: dict[str, Sequence[str]] = {}
    for name in visible(folder, folders=True, left_out=left_out):
        if not is_unicode(name):
            raise DataError(
                f"the name of the class folder {folder / name} is no text in UTF-8; rename it"
            )
        images = files_below(folder / name, IMAGE_SUFFIXES, left_out)
        if not images:
            names = name_some(visible(folder / name, folders=False), "")
            why = f": it has {names}, and none that ends in {listed(IMAGE_SUFFIXES)}"
            raise DataError(
                f"the class folder {folder / name} has no image{why if names else ''}. Remove it, "
                "or put images there."
            )
        class_name = normal_name(name)
        if class_name in files:
            raise DataError(
                f"{short(folder)} has two folders {class_name}, which differ only in the way "
                "that their accents are stored; make one of them"
            )
        files[class_name] = [f"{name}/{image}" for image in images]
    _check_folders(folder, files)
    return files


def parts_in_classes(folder: Path) -> list[DataWarning]:
    """Returns a warning for each class folder that has the parts of a data set in it.

    Args:
      folder: the folder of the classes.
    """
    return [
        DataWarning(
            "parts_in_class",
            f"the class {short(name)} contains {' and '.join(parts.values())}",
            f"did you mean --input.data_dir {short(folder / name)}?",
        )
        for name in visible(folder, folders=True)
        if {TRAIN} < (parts := _parts_by_kind(folder / name)).keys()
    ]


def _parts_by_kind(folder: Path) -> dict[str, str]:
    """Returns `train`, `eval`, `test` -> sub-folder such as `val/`, of those that there are."""
    names = visible(folder, folders=True)
    return {kind: f"{name}/" for name in names if (kind := split_kind(name))}


def check_classes(
    eval_folder: Path, eval_files: ClassFiles, folder: Path, classes: Sequence[str]
) -> None:
    """Refuses a class in a further part that the training part lacks."""
    unknown = sorted(set(eval_files) - set(classes))
    if unknown:
        raise DataError(
            f"{short(eval_folder)} has the class {brief(unknown[0])}, which {short(folder)} has "
            f"not; its classes are {listed(classes)}. Rename or remove that folder."
        )


def _check_folders(folder: Path, files: ClassFiles) -> None:
    """Refuses a folder without class folders, and one around the folder of the classes."""
    if not files:
        names = name_some(visible(folder, folders=False), "no file either")
        raise DataError(
            f"the folder {short(folder)} has no folder in it: {names}. It needs a folder of "
            f"images for each class, or two such folders: {LAYOUTS}"
        )
    (first, images), *further = files.items()
    inner = folder / images[0].split("/")[0]
    if not further and _holds_classes(inner) and len(visible(inner, folders=True)) > 1:
        raise DataError(
            f"{short(folder)} has the folder {first} only, with the folders"
            f" {name_some(visible(inner, folders=True))}; if these are the classes or the parts,"
            f" give {inner}"
        )


def _holds_classes(folder: Path) -> bool:
    """Returns whether there are folders and no images, as a class of this name would have."""
    names = visible(folder, folders=False)
    has_images = any(name.lower().endswith(IMAGE_SUFFIXES) for name in names)
    return bool(visible(folder, folders=True)) and not has_images
