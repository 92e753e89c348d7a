"""Source of the converter `voc`: PASCAL VOC 2012, with or without the masks of SBD.

    VOC2012/JPEGImages/NAME.jpg
    VOC2012/SegmentationClass/NAME.png          masks with a palette, or in colour
    VOC2012/SegmentationClassAug/NAME.png       masks of SBD as PNG, for images without a mask above
    VOC2012/ImageSets/Segmentation/train.txt    lists of names: train, val, trainval, train_aug ...

Layout: tensorflow/models, research/deeplab/datasets/build_voc2012_data.py, which takes masks
without a palette from SegmentationClassRaw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame.text_file import read_names, split_words
from tf_frame_deeplab.convert.source import (
    MaskedPicture,
    Meaning,
    Source,
    existing_pair,
    find_folder,
    known_source,
    numbers,
)
from tf_frame_deeplab.datasets.voc import VOC, voc_colour

_INNER = ("VOC2012", "VOCdevkit/VOC2012")
_IMAGES, _LISTS = "JPEGImages", Path("ImageSets/Segmentation")
_MASKS = ("SegmentationClass", "SegmentationClassAug", "SegmentationClassRaw")


def read_voc(root: Path, splits: Sequence[str]) -> Source:
    """Lists the pictures of each split in the order of its list.

    Args:
      root: VOC2012, or one of the folders around it.
      splits: names of lists.

    Raises:
      DataError: a list, an image or a mask is missing.
    """
    folder = find_folder(root, _INNER, _IMAGES)
    # Borders are index 255 of the palette.
    values = numbers(VOC.num_classes, VOC.ignore_label)
    meaning = Meaning(values, {_code(value): value for value in values})
    parts = {split: _pictures(folder, split, meaning) for split in splits}
    return known_source(VOC, parts)


def _pictures(folder: Path, split: str, meaning: Meaning) -> list[MaskedPicture]:
    return [
        MaskedPicture(
            existing_pair(
                name,
                folder / _IMAGES / f"{name}.jpg",
                [folder / masks / f"{name}.png" for masks in _MASKS],
            ),
            meaning,
        )
        for name in _read_list(folder / _LISTS / f"{split}.txt")
    ]


def _read_list(path: Path) -> list[str]:
    """Reads the names in a list: the first word of each line, a path of an image in SBD's lists."""
    words = [split_words(line)[0] for line in read_names(path)]
    names = [Path(word.replace("\\", "/")).stem for word in words]
    if not names:
        raise DataError(f"the list {short(path)} is empty")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the list {short(path)} names {twice} twice; remove one line")
    return names


def _code(value: int) -> int:
    red, green, blue = voc_colour(value)
    return red << 16 | green << 8 | blue
