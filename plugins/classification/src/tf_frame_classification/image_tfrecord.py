"""The input `image_tfrecord`: TFRecord files of images, as slim and ImageNet's scripts write them.

data_dir/train-00000-of-01024 ...        records to train on
data_dir/validation-00000-of-00128 ...   records to evaluate
data_dir/labels.txt                      names of the classes, see `label_file`
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError
from tf_frame_classification.folders import existing_folder, visible
from tf_frame_classification.image_input import ImageInput, ImageOptions, Split
from tf_frame_classification.label_file import read_label_file
from tf_frame_classification.tfrecord_index import RecordIndex, index_records

_LABEL_FILE = "labels.txt"
_SHARD = re.compile(r"(?<=[-_])(\d{5})-of-(\d{5})")
# ImageNet's names, then those of flowers, then those of MNIST and CIFAR-10 (slim, datasets/).
_TRAINING = ("train-*", "*_train_*.tfrecord", "*_train.tfrecord")
_EVALUATION = (
    *("validation-*", "*_validation_*.tfrecord", "*_validation.tfrecord"),
    *("test-*", "*_test_*.tfrecord", "*_test.tfrecord"),
)
_WHAT_TO_DO = "Give --input.data_dir the folder with the TFRecord files"


@dataclasses.dataclass(frozen=True)
class Params(ImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the TFRecord files; must be given")
    train_pattern: tuple[str, ...] = option(
        _TRAINING, "names of the files to train on; the first pattern that fits any counts"
    )
    eval_pattern: tuple[str, ...] = option(_EVALUATION, "names of the files to evaluate, likewise")
    num_classes: int | None = option(
        None, "number of classes, before the offset; none: as labels.txt has", min=1
    )


class ImageTfrecord(ImageInput):
    """Encoded images and labels in TFRecord files: `image/encoded` and `image/class/label`.

    Where each record is gets found at the start, so that training shuffles all of them.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        files = [
            _files(folder, patterns, name)
            for patterns, name in (
                (params.train_pattern, "train_pattern"),
                (params.eval_pattern, "eval_pattern"),
            )
        ]
        class_names = _class_names(folder, params.num_classes)
        self.use(class_names, *(self._split(paths) for paths in files))

    def examples(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.records import record_examples

        return record_examples(split.content, order)

    def _split(self, paths: Sequence[Path]) -> Split:
        indices = [index_records(path) for path in paths]
        damaged = [_rest_lost(index) for index in indices if index.damage]
        if damaged and not self.params.skip_corrupt:
            raise DataError(
                f"{damaged[0]}; copy or write the file again, or give --input.skip_corrupt"
            )
        count = sum(len(index.offsets) for index in indices)
        if not count:
            raise DataError(f"there is no record in {', '.join(map(str, paths[:3]))}")
        return Split(count, indices, damaged)


def _rest_lost(index: RecordIndex) -> str:
    return f"{index.damage}; it and what follows in this file cannot be read"


def _files(folder: Path, patterns: Sequence[str], name: str) -> list[Path]:
    names = visible(folder, folders=False)
    for pattern in patterns:
        found = [folder / file for file in names if fnmatchcase(file, pattern)]
        if found:
            _check_shards(found, names)
            return found
    raise DataError(
        f"the folder {folder} has no file that is called {' or '.join(patterns)}, but"
        f" {_some(names)}. Say what they are called: --input.{name} PATTERN"
    )


def _check_shards(paths: Sequence[Path], names: Sequence[str]) -> None:
    """Refuses files `...-00001-of-00004` of two generations, or with one that is not there.

    Args:
      paths: those that are to be read.
      names: all files of the folder.
    """
    numbers = [_SHARD.search(path.name) for path in paths]
    if not all(numbers):
        return  # Not named like that, or not all of them.
    found = {(int(n[1]), int(n[2])) for n in numbers if n}
    totals = sorted({total for _, total in found})
    if len(totals) > 1:
        raise DataError(
            f"{paths[0].parent} has shards of {' and of '.join(map(str, totals))}, such as"
            f" {paths[0].name} and {paths[-1].name}; remove those that are not to be read"
        )
    shards = [_SHARD.sub(f"{k:05d}-of-{totals[0]:05d}", paths[0].name) for k in range(totals[0])]
    missing = [name for name in shards if name not in names]
    if missing:
        raise DataError(
            f"{paths[0].parent} has {totals[0] - len(missing)} of {totals[0]} shards;"
            f" {missing[0]} is missing. Copy it there, or rename those that are to be read"
        )


def _some(names: Sequence[str]) -> str:
    if not names:
        return "it has no file at all"
    return f"{', '.join(names[:3])}{' ...' if len(names) > 3 else ''}"


def _class_names(folder: Path, num_classes: int | None) -> tuple[str, ...]:
    path = folder / _LABEL_FILE
    names = read_label_file(path) if path.exists() else {}
    count = num_classes or max(names, default=-1) + 1
    if not count:
        raise DataError(
            f"how many classes there are is not known: there is no {path}. Write it (0:daisy,"
            " 1:rose ..., one a line), or give --input.num_classes"
        )
    if names and max(names) >= count:
        raise DataError(
            f"{path} has the label {max(names)}, but --input.num_classes {num_classes} allows"
            f" labels to {count - 1} only"
        )
    return tuple(names.get(label, f"class {label}") for label in range(count))
