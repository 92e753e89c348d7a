"""The input `cifar10`: the binary version of CIFAR-10, as downloaded, without conversion.

data_dir/data_batch_1.bin ... data_batch_5.bin   records to train on
data_dir/test_batch.bin                          records to evaluate; may be missing
data_dir/batches.meta.txt                        class names, one a line; may be missing

Source: https://www.cs.toronto.edu/~kriz/cifar.html
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import DataError, NoDataError
from tf_frame.text import short
from tf_frame.text_file import read_names
from tf_frame_classification.inputs.labelled_images import LabelledImageOptions, LabelledImages
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.folders import existing_folder

_SIZE = 32
# A byte of label, then 32 x 32 bytes each of red, green and blue.
_RECORD_BYTES = 1 + 3 * _SIZE * _SIZE
_CLASSES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
_TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_EVALUATION = ("test_batch.bin",)
_UNPACKED = "cifar-10-batches-bin"
_WHAT_TO_DO = (
    "Unpack cifar-10-binary.tar.gz of https://www.cs.toronto.edu/~kriz/cifar.html, and say where:"
    " --input.data_dir FOLDER"
)


@dataclasses.dataclass(frozen=True)
class Params(LabelledImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with data_batch_1.bin ... test_batch.bin; must be given")


class Cifar10(LabelledImages):
    """Colour images, 32 x 32 pixels, of ten classes. The files are read once."""

    Params: ClassVar[type] = Params
    data_size: ClassVar[int] = _SIZE
    names_examples: ClassVar[bool] = False

    def find(self) -> None:
        params = self.params
        folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        if (folder / _UNPACKED).is_dir():
            folder /= _UNPACKED
        self.use(_class_names(folder), _split(folder, _TRAINING), _evaluation(folder))

    def content(self, split: Split) -> SplitContent:
        import numpy as np

        paths, _ = split.content
        labels = [np.memmap(path, np.uint8, "r")[::_RECORD_BYTES] for path in paths]
        return SplitContent(
            counts=self.count_labels(np.concatenate(labels)),
            sizes=[(_SIZE, _SIZE)],
            root=Path(paths[0]).parent,
        )

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.inputs.examples import cifar_examples

        paths, counts = split.content
        return cifar_examples(paths, counts, _SIZE, order)


def _evaluation(folder: Path) -> Split:
    """The images to evaluate; without the file, a run trains and evaluates nothing."""
    try:
        return _split(folder, _EVALUATION)
    except NoDataError as error:
        return absent_split(error)


def _split(folder: Path, names: Sequence[str]) -> Split:
    counts = [_num_records(folder / name) for name in names]
    return Split(sum(counts), ([str(folder / name) for name in names], counts))


def _num_records(path: Path) -> int:
    if not path.is_file():
        raise NoDataError(f"{short(path)} is missing. {_WHAT_TO_DO}.")
    num_bytes = path.stat().st_size
    if not num_bytes or num_bytes % _RECORD_BYTES:
        raise DataError(
            f"{short(path)} has {num_bytes} bytes, not a multiple of {_RECORD_BYTES}, a record;"
            " it was cut, or is another version. Download the binary version again."
        )
    return num_bytes // _RECORD_BYTES


def _class_names(folder: Path) -> tuple[str, ...]:
    path = folder / "batches.meta.txt"
    if not path.is_file():
        return _CLASSES
    names = tuple(read_names(path))
    if len(names) != len(_CLASSES):
        raise DataError(
            f"{short(path)} has {len(names)} names for {len(_CLASSES)} classes; write one for "
            "each, or remove the file"
        )
    return names
