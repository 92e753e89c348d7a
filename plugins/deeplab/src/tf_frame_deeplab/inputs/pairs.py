"""Finds the images of a folder and the mask of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError
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
      folder: has a folder of images and one of masks, or both side by side.
      suffix: what follows the name of an image in that of its mask; side by side, `_mask` is
        tried as well.
      all_have_masks: whether an image without a mask, or a mask without an image, is an error.

    Raises:
      DataError: there is no pair, or a file without its other half.
    """
    images = first_existing(folder, _IMAGES)
    masks = first_existing(folder, _MASKS)
    if (images is None) != (masks is None):
        there, missing = (images, _MASKS) if images else (masks, _IMAGES)
        raise DataError(f"{folder} has a folder {there}, but none called {' or '.join(missing)}")
    if images is not None and masks is not None:
        files = _by_name(images, _pictures(images))
        return _pairs(images, files, masks, _masks(masks, suffix), all_have_masks)
    found = _masks(folder, suffix or _usual_suffix(folder))
    # Without a suffix, a PNG is a mask.
    others = _by_name(folder, [f for f in _pictures(folder) if f not in found.values()])
    return _pairs(folder, others, folder, found, all_have_masks)


def listed(path: Path, pairs: Sequence[Pair]) -> list[Pair]:
    """Returns the pairs whose names a file lists, a name in a line, in their order.

    Raises:
      DataError: the file cannot be read, is empty, or lists a name that is not there.
    """
    try:
        names = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the list {path} cannot be read: {error}") from None
    by_name = {pair.name: pair for pair in pairs}
    wanted = [name.strip() for name in names if name.strip()]
    if not wanted:
        raise DataError(f"the list {path} is empty; write a name in each line")
    missing = [name for name in wanted if name not in by_name]
    if missing:
        raise DataError(
            f"{path} lists {_some(missing)}, of which there is no image with a mask; a line is a"
            " name without ending"
        )
    return [by_name[name] for name in wanted]


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
    for folder, files, other, kind in (
        (mask_folder, masks, images, "image"),
        (image_folder, images, masks, "mask"),
    ):
        alone = [files[name] for name in sorted(files.keys() - other.keys())]
        if alone and other:
            raise DataError(
                f"in {folder}, {_some(alone)} has no {kind}; add it, remove the file, or list"
                " the names to use in train.txt and val.txt"
            )


def _pictures(folder: Path) -> list[str]:
    names = visible(folder, folders=False)
    return [name for name in names if name.lower().endswith(IMAGE_SUFFIXES)]


def _by_name(folder: Path, files: Sequence[str]) -> dict[str, str]:
    """Name without ending -> file."""
    found: dict[str, str] = {}
    for file in files:
        if Path(file).stem in found:
            raise DataError(f"{folder} has both {found[Path(file).stem]} and {file}; remove one")
        found[Path(file).stem] = file
    return found


def _usual_suffix(folder: Path) -> str:
    masks = _masks(folder, _USUAL_SUFFIX)
    return _USUAL_SUFFIX if masks else ""


def _masks(folder: Path, suffix: str) -> dict[str, str]:
    """Name of the image -> file, of the masks of a folder."""
    ending = f"{suffix}{_MASK_ENDING}"
    files = visible(folder, folders=False)
    return {file[: -len(ending)]: file for file in files if file.lower().endswith(ending.lower())}


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SOME
    return ", ".join(names[:_SOME]) + (f" and {more} more" if more > 0 else "")
