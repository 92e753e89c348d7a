"""Source of the converter `ade20k`: the scene parsing benchmark, 150 classes and 0.

    ADEChallengeData2016/images/training/NAME.jpg        and validation
    ADEChallengeData2016/annotations/training/NAME.png   grey values, the classes

Layout: tensorflow/models, research/deeplab/datasets/build_ade20k_data.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_deeplab.convert.source import (
    MaskedPicture,
    Meaning,
    Source,
    existing_pair,
    find_folder,
    known_source,
    numbers,
)
from tf_frame_deeplab.datasets.ade20k import ADE20K
from tf_frame_vision.reading.folders import files_below

_INNER = ("ADEChallengeData2016",)
_MASKS = "annotations"
_FOLDERS = {"train": "training", "val": "validation"}


def read_ade20k(root: Path, splits: Sequence[str]) -> Source:
    """Lists the pictures of each split, sorted by name.

    Args:
      root: the folder `ADEChallengeData2016`, or its parent.
      splits: `train` and `val`, or names of other folders of images.

    Raises:
      DataError: a folder or a mask is missing.
    """
    folder = find_folder(root, _INNER, _MASKS)
    return known_source(ADE20K, {split: _pictures(folder, split) for split in splits})


def _pictures(folder: Path, split: str) -> list[MaskedPicture]:
    inner = _FOLDERS.get(split, split)
    images = folder / "images" / inner
    names = files_below(images, (".jpg",))
    if not names:
        raise DataError(f"{images} has no image NAME.jpg")
    meaning = Meaning(numbers(ADE20K.num_classes, ADE20K.ignore_label))
    masks = folder / _MASKS / inner
    return [
        MaskedPicture(
            existing_pair(name[:-4], images / name, [masks / f"{name[:-4]}.png"]), meaning
        )
        for name in names
    ]
