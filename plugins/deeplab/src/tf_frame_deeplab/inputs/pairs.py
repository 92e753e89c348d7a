"""Finds the images of a folder and the mask of each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text import listed, short
from tf_frame.text_file import normal_name, read_names
from tf_frame_deeplab.inputs.mask_file import Pair
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.reading.folders import files_below, first_existing, name_some, visible
from tf_frame_vision.reading.splits import LAYOUTS

_IMAGES = ("images", "JPEGImages")
_MASKS = ("masks", "labels", "annotations", "SegmentationClass")
_MASK_ENDING, _USUAL_SUFFIX = ".png", "_mask"


def find_folders(folder: Path) -> tuple[Path | None, Path | None]:
    """Returns the folder of images and the folder of masks; None where there is none."""
    return first_existing(folder, _IMAGES), first_existing(folder, _MASKS)


def find_pairs(
    folder: Path, suffix: str, left_out: Counter[str], *, all_have_masks: bool = True
) -> list[Pair]:
    """Finds the pairs of a folder, sorted by name.

    Args:
      folder: has a folder of images and a folder of masks, perhaps with the same sub-folders; or
        both kinds side by side, perhaps in sub-folders.
      suffix: ending of a mask's name after the name of its image; side by side, `_mask` is tried
        as well.
      left_out: counts files that are neither; see `files_below`.
      all_have_masks: whether an image without a mask, or a mask without an image, is an error.

    Raises:
      DataError: there is no pair, or a file without its other half.
    """
    images, masks = find_folders(folder)
    if (images is None) != (masks is None):
        present, missing = (images, _MASKS) if images else (masks, _IMAGES)
        raise DataError(
            f"{short(folder)} has a folder {present}, but none called {' or '.join(missing)}"
        )
    if images is not None and masks is not None:
        return pairs_in(images, masks, suffix, left_out, all_have_masks=all_have_masks)
    # Only hidden files are counted: those of the classes and lists lie here, too.
    files = files_below(folder, ("",), left_out)
    usual = _masks(folder, files, _USUAL_SUFFIX)
    mask_files = usual if usual and not suffix else _masks(folder, files, suffix)
    # Without a suffix, a PNG is a mask.
    pictures = [file for file in _pictures(files) if file not in mask_files.values()]
    return _pairs(folder, _by_name(folder, pictures), folder, mask_files, all_have_masks)


def pairs_in(
    images: Path,
    masks: Path,
    suffix: str,
    left_out: Counter[str],
    *,
    all_have_masks: bool = True,
) -> list[Pair]:
    """Finds the pairs of a folder of images and a folder of masks; see `find_pairs`.

    An image is its path below its folder: `a/p.jpg` and `b/p.jpg` have masks of their own.
    """
    if not masks.is_dir():
        raise DataError(f"{images} has images, but there is no folder {masks} with their masks")
    files = _by_name(images, files_below(images, IMAGE_SUFFIXES, left_out))
    mask_files = _masks(masks, files_below(masks, (_MASK_ENDING,), left_out), suffix)
    return _pairs(images, files, masks, mask_files, all_have_masks)


def select_listed(path: Path, pairs: Sequence[Pair], notes: list[str]) -> list[Pair]:
    """Returns the pairs that a file lists, a name in a line, in the order of the file.

    A name that is listed twice is one example.

    Args:
      path: the file.
      pairs: the pairs to select from.
      notes: receives a line with the number of names that are listed twice.

    Raises:
      DataError: the file cannot be read, is empty, or lists a name without a pair.
    """
    by_name = {pair.name: pair for pair in pairs}
    names = listed_names(path, pairs)
    if not names:
        raise DataError(f"the list {short(path)} is empty; write a name in each line")
    missing = [name for name in names if name not in by_name]
    if missing:
        raise DataError(
            f"{short(path)} lists {name_some(missing)}, but there is no such image with a mask; "
            "a line is a name without ending"
        )
    selected = dict.fromkeys(names)
    if len(selected) < len(names):
        count = len(names) - len(selected)
        notes.append(f"{count} lines of {path} repeat a name; an image counts once")
    return [by_name[name] for name in selected]


def listed_names(path: Path, pairs: Sequence[Pair]) -> list[str]:
    """Returns the names in a list, in the form of the pairs' names; see `select_listed`."""
    known_names = {pair.name for pair in pairs}
    return [_listed_name(line, known_names) for line in read_names(path)]


def _listed_name(line: str, known_names: Collection[str]) -> str:
    """Returns the name in a line, which may be a path of Windows, or have the image's ending."""
    name = normal_name(line)
    if name not in known_names:
        name = os.path.normpath(name.replace("\\", "/"))
    if name not in known_names and name.lower().endswith(IMAGE_SUFFIXES):
        name = os.path.splitext(name)[0]
    return name


def _pairs(
    image_folder: Path,
    images: dict[str, str],
    mask_folder: Path,
    masks: dict[str, str],
    all_have_masks: bool,
) -> list[Pair]:
    names = sorted(images.keys() & masks.keys())
    if all_have_masks:
        _check_halves(image_folder, images, mask_folder, masks)
    if not names:
        entries = [*visible(image_folder, folders=True), *visible(image_folder, folders=False)]
        raise DataError(
            f"{image_folder} has no image with a mask, but {name_some(entries)}: an image ends in"
            f" {listed(IMAGE_SUFFIXES)}, its mask has the same name and ends in {_MASK_ENDING}"
            f" (--input.mask_suffix is an addition to it); parts are folders, {LAYOUTS}, each"
            " with images and masks of its own"
        )
    return [Pair(name, image_folder / images[name], mask_folder / masks[name]) for name in names]


def _check_halves(
    image_folder: Path, images: dict[str, str], mask_folder: Path, masks: dict[str, str]
) -> None:
    for folder, files, partners, kind in (
        (mask_folder, masks, images, "image"),
        (image_folder, images, masks, "mask"),
    ):
        alone = [files[name] for name in sorted(files.keys() - partners.keys())]
        if alone and partners:
            raise DataError(
                f"in {short(folder)}, {name_some(alone)} has no {kind}; add it, remove the file, "
                "or list the names to use in train.txt and val.txt"
            )


def _pictures(files: Sequence[str]) -> list[str]:
    return [name for name in files if name.lower().endswith(IMAGE_SUFFIXES)]


def _by_name(folder: Path, files: Sequence[str]) -> dict[str, str]:
    """Returns name without ending, in the form for comparisons -> file."""
    return _unique(folder, [(os.path.splitext(file)[0], file) for file in files])


def _masks(folder: Path, files: Sequence[str], suffix: str) -> dict[str, str]:
    """Returns name of the image -> file, of the masks among files."""
    ending = f"{suffix}{_MASK_ENDING}"
    masks = [file for file in files if file.lower().endswith(ending.lower())]
    return _unique(folder, [(file[: -len(ending)], file) for file in masks])


def _unique(folder: Path, names_and_files: Sequence[tuple[str, str]]) -> dict[str, str]:
    by_name: dict[str, str] = {}
    for name, file in names_and_files:
        name = normal_name(name)
        if name in by_name:
            raise DataError(
                f"{short(folder)} has both {by_name[name]} and {short(file)}; remove one"
            )
        by_name[name] = file
    return by_name
