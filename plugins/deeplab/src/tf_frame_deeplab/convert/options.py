"""Options of the converters."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from tf_frame import option
from tf_frame.errors import ConfigError
from tf_frame_deeplab.inputs.parts import FormOptions

_SPLIT_PATTERN = re.compile(r"[A-Za-z0-9_]+")


@dataclasses.dataclass(frozen=True)
class ConvertOptions:
    """Options of all converters."""

    shards: int = option(
        4, "files to write for each split; of later splits at most one for each image", min=1
    )
    workers: int | None = option(
        None, "shards that are written at the same time; none: one for each core", min=1
    )
    skip_corrupt: bool = option(
        False, "leave out and name images and masks that are damaged, instead of stopping"
    )


@dataclasses.dataclass(frozen=True)
class FolderOptions(FormOptions, ConvertOptions):
    """Options for images and masks of one's own."""

    ignore_label: int = option(255, "value of pixels that do not count", min=1, max=65535)


@dataclasses.dataclass(frozen=True)
class PublishedOptions(ConvertOptions):
    """Options for data sets with published splits."""

    splits: tuple[str, ...] = option(
        ("train", "val"), "splits to convert, which are also the first parts of the names of shards"
    )


@dataclasses.dataclass(frozen=True)
class CityscapesOptions(PublishedOptions):
    """Options for Cityscapes."""

    annotations: str = option("gtFine", "folder of the masks", choices=("gtFine", "gtCoarse"))


def check_splits(splits: Sequence[str]) -> None:
    """Raises a `ConfigError` if there is no split, or a name of one is none of a file."""
    if not splits:
        raise ConfigError("--splits is empty; name one split at least, such as train")
    for split in splits:
        if not _SPLIT_PATTERN.fullmatch(split):
            raise ConfigError(
                f"--splits {split!r} cannot begin the name of a file: use letters, digits, _"
            )
