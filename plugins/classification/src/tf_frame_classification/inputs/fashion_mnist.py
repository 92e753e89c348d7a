"""The input `fashion_mnist`: the four files of Fashion-MNIST or MNIST, gzipped or not.

Without data_dir it reads a sample that the package brings, for a first run without a download.

data_dir/train-images-idx3-ubyte.gz   data_dir/train-labels-idx1-ubyte.gz
data_dir/t10k-images-idx3-ubyte.gz    data_dir/t10k-labels-idx1-ubyte.gz, which may be missing
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import option
from tf_frame.errors import ConfigError, DataError, NoDataError
from tf_frame_classification.inputs.idx import num_classes, read_idx_shape, read_labels
from tf_frame_classification.inputs.labelled_images import LabelledImageOptions, LabelledImages
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.reading.folders import existing_folder, first_existing

# https://github.com/zalandoresearch/fashion-mnist
FASHION = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)
_SAMPLE = Path(__file__).parents[1] / "data" / "fashion_mnist"
_WHAT_TO_DO = (
    "Put the four files train- and t10k-images-idx3-ubyte, train- and t10k-labels-idx1-ubyte"
    " there, with or without .gz; or leave --input.data_dir empty to use the sample that the"
    " plugin brings; a folder of images for each class is read by --input image_folder"
)


@dataclasses.dataclass(frozen=True)
class Params(LabelledImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the four idx files; empty: a sample of Fashion-MNIST")
    class_names: tuple[str, ...] = option(
        FASHION, "a name for each label; for the digits of MNIST: 0,1,2,3,4,5,6,7,8,9"
    )


class FashionMnist(LabelledImages):
    """Grey images of clothing, 28 x 28 pixels, of ten classes; or the digits of MNIST.

    The sample has 2,000 images to train on and 500 to evaluate. The files are read once.
    """

    Params: ClassVar[type] = Params
    data_size: ClassVar[int] = 28
    data_channels: ClassVar[int] = 1
    names_examples: ClassVar[bool] = False

    def find(self) -> None:
        params = self.params
        folder = _SAMPLE
        if params.data_dir:
            folder = existing_folder(params.data_dir, "--input.data_dir", _WHAT_TO_DO)
        splits = [_split(folder, "train"), _evaluation(folder)]
        _check_names(
            params.class_names, max(num_classes(Path(s.content[1])) for s in splits if s.content)
        )
        self.use(params.class_names, *splits)

    def content(self, split: Split) -> SplitContent:
        images, labels, size = split.content
        return SplitContent(
            counts=self.count_labels(list(read_labels(Path(labels)))),
            sizes=[size],
            root=Path(images).parent,
        )

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_classification.inputs.examples import idx_examples

        images, labels, size = split.content
        return idx_examples(images, labels, size, order)


def _check_names(names: Sequence[str], count: int) -> None:
    if len(names) < count:
        raise ConfigError(
            f"--input.class_names has {len(names)} names for {count} classes: the data has labels "
            f"0 to {count - 1}; give a name for each"
        )


def _evaluation(folder: Path) -> Split:
    """The images to evaluate; without both files, a run trains and evaluates nothing."""
    try:
        return _split(folder, "t10k")
    except NoDataError as error:
        if any(folder.glob("t10k-*")):
            raise
        return absent_split(error)


def _split(folder: Path, part: str) -> Split:
    images = _file(folder, f"{part}-images-idx3-ubyte")
    labels = _file(folder, f"{part}-labels-idx1-ubyte")
    image_shape = read_idx_shape(images, rank=3)
    (num_labels,) = read_idx_shape(labels, rank=1)
    if num_labels != image_shape[0]:
        raise DataError(
            f"{images} has {image_shape[0]} images, but {labels} has {num_labels} labels; they"
            " must belong together"
        )
    return Split(num_labels, (str(images), str(labels), image_shape[1:]))


def _file(folder: Path, name: str) -> Path:
    # Some programs unpack the names of MNIST with a dot.
    names = [name, f"{name}.gz", name.replace("-idx", ".idx"), name.replace("-idx", ".idx") + ".gz"]
    path = first_existing(folder, names)
    if path is None:
        raise NoDataError(f"{folder / name}.gz is missing. {_WHAT_TO_DO}.")
    return path
