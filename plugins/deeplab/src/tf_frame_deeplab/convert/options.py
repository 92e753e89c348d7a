"""Options of the converters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tf_frame import option
from tf_frame.errors import ConfigError
from tf_frame_deeplab.inputs.parts import FormOptions
from tf_frame_vision.convert.options import ConvertOptions, check_split_name


@dataclasses.dataclass(frozen=True)
class FolderOptions(FormOptions, ConvertOptions):
    """Options for images and masks of one's own."""

    ignore_label: int = option(255, "value of pixels that do not count", min=1, max=65535)


@dataclasses.dataclass(frozen=True)
class PublishedOptions(ConvertOptions):
    """Options for data sets with published splits."""

    split: tuple[str, ...] = option(
        ("train", "val"), "splits to convert, which are also the first parts of the names of shards"
    )


@dataclasses.dataclass(frozen=True)
class CityscapesOptions(PublishedOptions):
    """Options for Cityscapes."""

    annotations: str = option("gtFine", "folder of the masks", choices=("gtFine", "gtCoarse"))


def check_splits(splits: Sequence[str]) -> None:
    """Raises a `ConfigError` if there is no split, or a name of one is none of a file."""
    if not splits:
        raise ConfigError("--split is empty; name one split at least, such as train")
    for split in splits:
        check_split_name(split)
