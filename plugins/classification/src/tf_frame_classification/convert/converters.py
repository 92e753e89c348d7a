"""The converters `image_folder`, `mnist`, `fashion_mnist`, `cifar10` of `tf-frame convert`.

They write TFRecords with slim's feature keys for the input `image_tfrecord` and for programs of
slim. The same command continues a conversion that was stopped.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tf_frame import Converter, option
from tf_frame.errors import ConfigError
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import listed, short
from tf_frame_classification.convert.divide import divide
from tf_frame_classification.convert.pictures import Source
from tf_frame_vision.convert.folders import check_apart
from tf_frame_vision.convert.options import ConvertOptions, check_split_name, range_setting

if TYPE_CHECKING:
    from tf_frame_vision.convert.conversion import Result

_TRAINING, _VALIDATION = "train", "validation"


@dataclasses.dataclass(frozen=True)
class ClassificationConvertOptions(ConvertOptions):
    """Options of all converters of labelled images."""

    eval_fraction: float = option(
        0.0, "part of each class that becomes validation-*, the rest train-*", min=0.0, max=0.9
    )
    seed: int = option(0, "seed of the validation part, and of the order of image_folder", min=0)


@dataclasses.dataclass(frozen=True)
class FolderOptions(ClassificationConvertOptions):
    """Options for a folder of pictures."""

    split: str = option(_TRAINING, "first part of the names of the shards")


@dataclasses.dataclass(frozen=True)
class PublishedOptions(ClassificationConvertOptions):
    """Options for data sets with published splits."""

    split: str = option(
        _TRAINING,
        "files to read, and first part of the names of the shards; test and validation are the "
        "same files",
        choices=(_TRAINING, "test", _VALIDATION),
    )


class _Converter(Converter):
    """Base of the converters; a subclass reads its source."""

    Params: ClassVar[type] = PublishedOptions
    # True if the order of the pictures depends on the seed.
    shuffles: ClassVar[bool] = False
    name: ClassVar[str]

    def read(self, source: Path) -> Source:
        """Lists the pictures. The method imports the reader, so that help does not wait for NumPy.

        Raises:
          DataError: the source is missing or damaged.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define read()")

    def read_parts(self, source: Path) -> dict[str, Source]:
        """Returns the pictures of each split; see `read`."""
        return {self.params.split: self.read(source)}

    def convert(self, source: str, output: str, report: Callable[[str], None]) -> None:
        """Writes `train-00000-of-00001` ..., `labels.txt` and `train.conversion.json`."""
        source_path, output_path = (Path(path).expanduser() for path in (source, output))
        self._check(source_path, output_path)
        parts = self.read_parts(source_path)
        fraction = self.params.eval_fraction
        if fraction:
            training, validation = divide(parts[_TRAINING], fraction, seed=self.params.seed)
            parts = {**parts, _TRAINING: training, _VALIDATION: validation}
        for split, part in parts.items():
            started = time.monotonic()
            shards = self.params.shards
            if shards and fraction and split == _VALIDATION:
                shards = max(1, round(shards * fraction))
            result = self._write(part, output_path, split, shards)
            secs = time.monotonic() - started
            outcome = result.text(len(part.class_names))
            report(f"{split}: {outcome}; {secs:.1f} s; written to {output}")

    def _write(self, source: Source, output: Path, split: str, shards: int | None) -> Result:
        with quiet_import():
            # Importing TensorFlow takes seconds.
            from tf_frame_classification.convert.examples import LabelledRecords
            from tf_frame_vision.convert.conversion import Conversion, convert
        params = self.params
        return convert(
            source.pictures,
            LabelledRecords(source.class_names, params),
            Conversion(
                kind=self.name,
                fingerprint=source.fingerprint,
                output=output,
                split=split,
                shards=shards,
                num_bytes=source.num_bytes,
                workers=params.workers,
                skip_corrupt=params.skip_corrupt,
                seed=params.seed if self.shuffles or params.eval_fraction else None,
                eval_fraction=params.eval_fraction,
                names_file="labels.txt",
                further=range_setting(params),
                names=[f"{label}:{name}" for label, name in enumerate(source.class_names)],
            ),
        )

    def _check(self, source: Path, output: Path) -> None:
        split = self.params.split
        check_split_name(split)
        if self.params.eval_fraction and split != _TRAINING:
            raise ConfigError(
                f"--eval_fraction writes {_TRAINING}-* and {_VALIDATION}-*; leave --split "
                f"{split} out"
            )
        check_apart(source, output)


class Folder(_Converter):
    """A folder with a folder of images (JPEG, PNG, BMP, GIF, WebP) for each class.

    A folder with parts, such as `train` and `val`, becomes `train-*`, `validation-*` and `test-*`.
    """

    Params: ClassVar[type] = FolderOptions
    shuffles = True
    name = "image_folder"

    def read_parts(self, source: Path) -> dict[str, Source]:
        from tf_frame_classification.convert.folder import read_parts

        parts = read_parts(source, seed=self.params.seed)
        if len(parts) == 1:
            return {self.params.split: parts[_TRAINING]}
        if self.params.split != _TRAINING:
            raise ConfigError(
                f"--split {self.params.split} is the name of one part, but {short(source)} has"
                f" {listed(parts)}; leave the option out, or give one of the folders"
            )
        if self.params.eval_fraction and _VALIDATION in parts:
            raise ConfigError(
                "--eval_fraction divides a folder without a part to evaluate, but "
                f"{short(source)} has one; leave the option out"
            )
        return parts


class Mnist(_Converter):
    """MNIST: its idx files, gzipped or not."""

    name = "mnist"

    def read(self, source: Path) -> Source:
        from tf_frame_classification.convert.mnist import CLASS_NAMES, read_mnist

        names = CLASS_NAMES[self.name]
        return read_mnist(source, split=self.params.split, class_names=names)


class FashionMnist(Mnist):
    """Fashion-MNIST: its idx files, gzipped or not."""

    name = "fashion_mnist"


class Cifar10(_Converter):
    """CIFAR-10: the files *.bin of its binary version."""

    name = "cifar10"

    def read(self, source: Path) -> Source:
        from tf_frame_classification.convert.cifar10 import read_cifar10

        return read_cifar10(source, split=self.params.split)
