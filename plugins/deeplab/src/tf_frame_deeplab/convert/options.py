"""Options of the converters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from tf_frame import option
from tf_frame.errors import ConfigError
from tf_frame_deeplab.inputs.drawn_data import DrawnFormOptions, YoloOverlapOptions
from tf_frame_deeplab.inputs.parts import FormOptions
from tf_frame_vision.convert.options import ConvertOptions, check_split_name
from tf_frame_vision.formats.coco_layout import CocoOptions
from tf_frame_vision.formats.labelme import LabelmeOptions
from tf_frame_vision.formats.yolo_layout import YoloOptions
from tf_frame_vision.reading.folders import FractionOptions


@dataclasses.dataclass(frozen=True)
class FolderOptions(FormOptions, ConvertOptions):
    """Options for a folder of images and masks."""

    ignore_label: int = option(255, "value of pixels that do not count", min=1, max=65535)


@dataclasses.dataclass(frozen=True)
class DrawnConvertOptions(DrawnFormOptions, FractionOptions, ConvertOptions):
    """Options for images with objects that are drawn as masks."""

    # The value of an option that only inputs have.
    eval_split: ClassVar[str] = "val"
    ignore_label: int = option(255, "value of pixels that do not count", min=1, max=65535)


@dataclasses.dataclass(frozen=True)
class CocoMasksOptions(CocoOptions, DrawnConvertOptions):
    """Options for COCO's JSON files."""


@dataclasses.dataclass(frozen=True)
class YoloMasksOptions(YoloOverlapOptions, YoloOptions, DrawnConvertOptions):
    """Options for YOLO's polygons."""


@dataclasses.dataclass(frozen=True)
class LabelmeMasksOptions(LabelmeOptions, DrawnConvertOptions):
    """Options for labelme's JSON files."""


@dataclasses.dataclass(frozen=True)
class PublishedOptions(ConvertOptions):
    """Options for data sets with published splits."""

    split: tuple[str, ...] = option(
        ("train", "val"), "splits to convert; names of shards begin with them"
    )


@dataclasses.dataclass(frozen=True)
class CityscapesOptions(PublishedOptions):
    """Options for Cityscapes."""

    annotations: str = option("gtFine", "folder of the masks", choices=("gtFine", "gtCoarse"))


def check_splits(splits: Sequence[str]) -> None:
    """Raises a `ConfigError` if there is no split, or if a name cannot be part of a file name."""
    if not splits:
        raise ConfigError("--split is empty; name one split at least, such as train")
    for split in splits:
        check_split_name(split)
