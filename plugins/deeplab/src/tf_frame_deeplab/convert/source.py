"""`Source`, the common form of all data to convert: pairs of files, and the meaning of pixels."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame_deeplab.datasets.dataset import KnownDataset
from tf_frame_deeplab.inputs.mask_file import Pair


# Compared by identity: all pictures of a split share a few of them.
@dataclasses.dataclass(frozen=True, eq=False)
class Meaning:
    """Classes of the pixels of masks.

    Attributes:
      values: grey value, or index of a palette -> value in the records.
      colours: `0xRRGGBB` -> value in the records, for masks in colour.
    """

    values: Mapping[int, int]
    colours: Mapping[int, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class MaskedPicture:
    """An image and its mask, not read yet.

    Attributes:
      pair: the files.
      meaning: the classes of the pixels of the mask.
    """

    pair: Pair
    meaning: Meaning

    @property
    def filename(self) -> str:
        """Name of both files without ending, as DeepLab's records have it."""
        return self.pair.name


@dataclasses.dataclass(frozen=True)
class Source:
    """Pictures to convert.

    Attributes:
      parts: name of a split -> its pictures, in the order in which they are to be written.
      class_lines: name of each class, and its colour if it has one, as in classes.txt.
      ignore_label: value in the records of pixels that do not count.
    """

    parts: Mapping[str, Sequence[MaskedPicture]]
    class_lines: Sequence[str]
    ignore_label: int


def overlaps(parts: Mapping[str, Sequence[MaskedPicture]]) -> list[str]:
    """Warns, a line each, of splits that have images in common."""
    names = {split: {each.pair.image for each in pictures} for split, pictures in parts.items()}
    return [
        f"{len(names[one] & names[other])} images are both in {one} and in {other}; do not train on"
        " one and evaluate on the other"
        for one, other in itertools.combinations(names, 2)
        if names[one] & names[other]
    ]


def numbers(count: int, ignore_label: int) -> dict[int, int]:
    """Returns the meaning of values that are the classes themselves."""
    return {value: value for value in (*range(count), ignore_label)}


def digest_of(meanings: Iterable[Meaning]) -> str:
    """Returns a digest of what pixels mean, to notice that it has changed."""
    texts = [repr([sorted(each.values.items()), sorted(each.colours.items())]) for each in meanings]
    return hashlib.sha256("".join(sorted(texts)).encode()).hexdigest()[:16]


def source_of(dataset: KnownDataset, parts: Mapping[str, Sequence[MaskedPicture]]) -> Source:
    """Returns a source with the classes of a known data set."""
    return Source(parts, dataset.class_names, dataset.ignore_label)


def folder_with(source: Path, inner: Sequence[str], needed: str) -> Path:
    """Returns the folder itself, or the first inner one, that has a needed folder.

    Args:
      source: the folder that the user gave.
      inner: paths below it, as published archives have them.
      needed: name of the folder that must be there.

    Raises:
      DataError: none has it.
    """
    for folder in (source, *(source / name for name in inner)):
        if (folder / needed).is_dir():
            return folder
    raise DataError(
        f"neither {source} nor {' or '.join(inner)} in it has a folder {needed}: is SOURCE the"
        " folder of the data set?"
    )


def existing_pair(name: str, image: Path, masks: Sequence[Path]) -> Pair:
    """Returns a pair with the first of the masks that exists.

    Raises:
      DataError: there is no image, or none of the masks.
    """
    if not image.exists():
        raise DataError(f"there is no image {image}")
    mask = next((path for path in masks if path.exists()), None)
    if mask is None:
        raise DataError(f"the image {image} has no mask {' or '.join(map(str, masks))}")
    return Pair(name, image, mask)
