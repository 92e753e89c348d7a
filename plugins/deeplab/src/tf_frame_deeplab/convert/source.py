"""`Source`: data to convert as pairs of files and the meaning of pixels."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_deeplab.datasets.dataset import KnownDataset
from tf_frame_deeplab.inputs.mask_file import Pair


# Compared by identity: all pictures of a split share a few objects.
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
      parts: name of a split -> its pictures, in the order of the records.
      class_lines: name of each class, and its colour if it has one, as in classes.txt.
      ignore_label: value in the records of pixels that do not count.
    """

    parts: Mapping[str, Sequence[MaskedPicture]]
    class_lines: Sequence[str]
    ignore_label: int


def overlaps(parts: Mapping[str, Sequence[MaskedPicture]]) -> list[str]:
    """Warns, a line each, of splits that have images in common."""
    names = {split: {p.pair.image for p in pictures} for split, pictures in parts.items()}
    return [
        f"{len(names[a] & names[b])} images are both in {a} and in {b}; do not train on one and"
        " evaluate on the other"
        for a, b in itertools.combinations(names, 2)
        if names[a] & names[b]
    ]


def numbers(count: int, ignore_label: int) -> dict[int, int]:
    """Returns the meaning of values that are the classes themselves."""
    return {value: value for value in (*range(count), ignore_label)}


def digest(meanings: Iterable[Meaning]) -> str:
    """Returns a digest of the meaning of pixels, to notice a change."""
    texts = [repr([sorted(m.values.items()), sorted(m.colours.items())]) for m in meanings]
    return hashlib.sha256("".join(sorted(texts)).encode()).hexdigest()[:16]


def known_source(dataset: KnownDataset, parts: Mapping[str, Sequence[MaskedPicture]]) -> Source:
    """Returns a source with the classes of a known data set."""
    return Source(parts, dataset.class_names, dataset.ignore_label)


def find_folder(source: Path, inner: Sequence[str], needed: str) -> Path:
    """Returns the folder itself, or the first inner one, that has a needed folder.

    Args:
      source: the folder that the user gave.
      inner: paths below it, as published archives have them.
      needed: name of the folder to look for.

    Raises:
      DataError: no folder has it.
    """
    for folder in (source, *(source / name for name in inner)):
        if (folder / needed).is_dir():
            return folder
    raise DataError(
        f"neither {short(source)} nor {' or '.join(inner)} in it has a folder {needed}: is "
        "SOURCE the folder of the data set?"
    )


def name_below(folder: Path, image: Path) -> str:
    """Returns the path of an image below its folder without ending: the identity of the image."""
    within = image.is_relative_to(folder)
    return (image.relative_to(folder) if within else image).with_suffix("").as_posix()


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
