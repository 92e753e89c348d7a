"""Finds the images of a folder and the mask of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text_file import normal_name, read_names
from tf_frame_deeplab.inputs.mask_file import Pair
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.reading.folders import first_existing, visible

_IMAGES = ("images", "JPEGImages")
_MASKS = ("masks", "labels", "annotations", "SegmentationClass")
_MASK_ENDING, _USUAL_SUFFIX = ".png", "_mask"
_SOME = 3


def find_pairs(folder: Path, suffix: str = "", *, all_have_masks: bool = True) -> list[Pair]:
    """Finds the pairs of a folder, sorted by name.

    Args:
      folder: has a folder of images and a folder of masks, or both kinds side by side.
      suffix: ending of a mask's name after the name of its image; side by side, `_mask` is tried
        as well.
      all_have_masks: whether an image without a mask, or a mask without an image, is an error.

    Raises:
      DataError: there is no pair, or a file without its other half.
    """
    images = first_existing(folder, _IMAGES)
    masks = first_existing(folder, _MASKS)
    if (images is None) != (masks is None):
        present, missing = (images, _MASKS) if images else (masks, _IMAGES)
        raise DataError(f"{folder} has a folder {present}, but none called {' or '.join(missing)}")
    if images is not None and masks is not None:
        files = _by_name(images, _pictures(images))
        return _pairs(images, files, masks, _masks(masks, suffix), all_have_masks)
    mask_files = _masks(folder, suffix or _usual_suffix(folder))
    # Without a suffix, a PNG is a mask.
    pictures = [file for file in _pictures(folder) if file not in mask_files.values()]
    return _pairs(folder, _by_name(folder, pictures), folder, mask_files, all_have_masks)


def select_listed(path: Path, pairs: Sequence[Pair]) -> list[Pair]:
    """Returns the pairs that a file lists, a name in a line, in the order of the file.

    Raises:
      DataError: the file cannot be read, is empty, or lists a name without a pair.
    """
    by_name = {normal_name(pair.name): pair for pair in pairs}
    names = read_names(path)
    if not names:
        raise DataError(f"the list {path} is empty; write a name in each line")
    missing = [name for name in names if normal_name(name) not in by_name]
    if missing:
        raise DataError(
            f"{path} lists {_some(missing)}, but there is no such image with a mask; a line is"
            " a name without ending"
        )
    return [by_name[normal_name(name)] for name in names]


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
        raise DataError(
            f"{image_folder} has no image with a mask: an image ends in {', '.join(IMAGE_SUFFIXES)}"
            f", its mask has the same name and ends in {_MASK_ENDING}"
            " (--input.mask_suffix names what is added); parts are two folders, train and val, each"
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
                f"in {folder}, {_some(alone)} has no {kind}; add it, remove the file, or list"
                " the names to use in train.txt and val.txt"
            )


def _pictures(folder: Path) -> list[str]:
    names = visible(folder, folders=False)
    return [name for name in names if name.lower().endswith(IMAGE_SUFFIXES)]


def _by_name(folder: Path, files: Sequence[str]) -> dict[str, str]:
    """Returns name without ending -> file."""
    by_name: dict[str, str] = {}
    for file in files:
        name = normal_name(Path(file).stem)
        if name in by_name:
            raise DataError(f"{folder} has both {by_name[name]} and {file}; remove one")
        by_name[name] = file
    return by_name


def _usual_suffix(folder: Path) -> str:
    masks = _masks(folder, _USUAL_SUFFIX)
    return _USUAL_SUFFIX if masks else ""


def _masks(folder: Path, suffix: str) -> dict[str, str]:
    """Returns name of the image -> file, of the masks of a folder."""
    ending = f"{suffix}{_MASK_ENDING}"
    files = visible(folder, folders=False)
    masks = [file for file in files if file.lower().endswith(ending.lower())]
    return {normal_name(file[: -len(ending)]): file for file in masks}


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SOME
    return ", ".join(names[:_SOME]) + (f" and {more} more" if more > 0 else "")
