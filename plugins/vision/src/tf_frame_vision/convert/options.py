"""Options of all converters that write TFRecord shards; does not import TensorFlow."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from tf_frame import option
from tf_frame.errors import ConfigError, DataError
from tf_frame.text import brief
from tf_frame_vision.reading.image_options import ImageOptions

_SPLIT_PATTERN = re.compile(r"[A-Za-z0-9_]+")


@dataclasses.dataclass(frozen=True)
class ConvertOptions(ImageOptions):
    """Options of all converters."""

    shards: int | None = option(
        None,
        "files to write for each split, at most one for each image; none: one for each 128 MiB of "
        "the images",
        min=1,
    )
    workers: int | None = option(
        None, "shards that are written at the same time; none: one for each core", min=1
    )
    skip_corrupt: bool = option(
        False, "leave out and name examples that cannot be used, instead of stopping"
    )
    allow_outside: bool = option(
        False, "whether paths in data files may be absolute, or lead out of the data folder"
    )


class TestOptions:
    """Options of a converter with the test part as the part to evaluate.

    Args:
      params: the options.
    """

    eval_split = "test"

    def __init__(self, params: Any) -> None:
        self._params = params

    def __getattr__(self, name: str) -> Any:
        return getattr(self._params, name)


def range_setting(options: ImageOptions) -> dict[str, Any]:
    """Returns the setting that a rerun must repeat, none if the range of images is not given."""
    return {"image_range": list(options.image_range)} if options.image_range else {}


def without_prefix(error: DataError) -> DataError:
    """Returns an error of an input for a converter; its options have no prefix."""
    return DataError(str(error).replace("--input.", "--"))


def check_split_name(split: str) -> None:
    """Raises a `ConfigError` if the names of shards cannot begin with the name of a split."""
    if not _SPLIT_PATTERN.fullmatch(split):
        raise ConfigError(
            f"--split {brief(split)} cannot begin the name of a file: use letters, digits, _"
        )
