"""Source of the converter `cityscapes`: label ids become the ids of the 19 classes of training.

    leftImg8bit/train/CITY/NAME_leftImg8bit.png
    gtFine/train/CITY/NAME_gtFine_labelIds.png   or, made of them, NAME_gtFine_labelTrainIds.png
    gtCoarse/train/CITY/NAME_gtCoarse_labelIds.png

Layout: README.md of mcordts/cityscapesScripts.
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
from tf_frame_deeplab.datasets.cityscapes import CITYSCAPES
from tf_frame_vision.reading.folders import files_below

_IMAGES = "leftImg8bit"
_ENDING = f"_{_IMAGES}.png"
_LABEL_IDS, _TRAIN_IDS = "labelIds", "labelTrainIds"


def read_cityscapes(root: Path, splits: Sequence[str], annotations: str) -> Source:
    """Lists the pictures of each split, sorted by city and name.

    Args:
      root: the folder of both archives, unpacked.
      splits: names of folders in `leftImg8bit`.
      annotations: `gtFine` or `gtCoarse`.

    Raises:
      DataError: a folder or a mask is missing.
    """
    folder = find_folder(root, ("cityscapes",), _IMAGES)
    parts = {split: _pictures(folder, split, annotations) for split in splits}
    return known_source(CITYSCAPES, parts)


def label_id_meaning() -> Meaning:
    """Returns the train id of each label id; 255 for label ids that are not evaluated."""
    ignored = CITYSCAPES.ignore_label
    train_ids = {label: number for number, label in enumerate(CITYSCAPES.ids)}
    return Meaning({label: train_ids.get(label, ignored) for label in range(CITYSCAPES.num_ids)})


def _pictures(folder: Path, split: str, annotations: str) -> list[MaskedPicture]:
    images = [
        folder / _IMAGES / split / name
        for name in files_below(folder / _IMAGES / split, (_ENDING.lower(),))
        if name.endswith(_ENDING) and name.count("/") == 1
    ]
    if not images:
        raise DataError(f"{folder / _IMAGES / split} has no image CITY/NAME{_ENDING}")
    label_ids = label_id_meaning()
    train_ids = Meaning(numbers(CITYSCAPES.num_classes, CITYSCAPES.ignore_label))
    pictures = []
    for image in images:
        name = image.name.removesuffix(_ENDING)
        masks = folder / annotations / split / image.parent.name
        kinds = (_LABEL_IDS, _TRAIN_IDS)
        pair = existing_pair(
            name, image, [masks / f"{name}_{annotations}_{kind}.png" for kind in kinds]
        )
        is_train = pair.mask.name.endswith(f"_{_TRAIN_IDS}.png")
        pictures.append(MaskedPicture(pair, train_ids if is_train else label_ids))
    return pictures
