"""The input `segmentation_tfrecord`: TFRecord files as DeepLab's scripts and `convert` write them.

data_dir/train-00000-of-00004 ...   records to train on, perhaps gzipped
data_dir/val-00000-of-00004 ...     records to evaluate; may be missing
data_dir/classes.txt                the classes, a line each, unless `--input.dataset` is given
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import InputInfo, option
from tf_frame.errors import ConfigError, DataError
from tf_frame.text import short
from tf_frame_deeplab.datasets.known import KNOWN
from tf_frame_deeplab.inputs.classes import read_classes
from tf_frame_deeplab.inputs.drawn_data import INPUTS
from tf_frame_deeplab.inputs.mask_file import MASK, count_values
from tf_frame_deeplab.inputs.segmented_images import SegmentedImageOptions, SegmentedImages
from tf_frame_deeplab.inputs.semantic_input import count_pixels
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.reading.folders import SplitOptions
from tf_frame_vision.reading.image_header import ImageError
from tf_frame_vision.reading.pixels import load_mask
from tf_frame_vision.reading.record_facts import Values, first_bytes, read_record_facts
from tf_frame_vision.record_splits import record_content, record_splits

# Names of `tf-frame convert`, then of DeepLab's other splits (tensorflow/models,
# research/deeplab/datasets/data_generator.py and build_cityscapes_data.py).
_TRAINING = ("train-*", "train_fine-*", "train_aug-*", "trainval-*")
_EVALUATION = ("val-*", "val_fine-*", "validation-*", "valid-*", "dev-*")
_UNKNOWN = "none"
_DEFAULT_LABEL = 255
# Masks that are decoded before a run starts.
_MOST_MASKS = 100


@dataclasses.dataclass(frozen=True)
class Params(SplitOptions, SegmentedImageOptions):
    """Options of the input."""

    data_dir: str = option("", "folder with the TFRecord files; must be given")
    dataset: str = option(
        _UNKNOWN,
        "known data set: gives classes and ignored label; none: classes.txt names the classes",
        choices=(_UNKNOWN, *KNOWN),
    )
    classes: str = option("", "file of the classes; empty: classes.txt of data_dir")
    train_pattern: tuple[str, ...] = option(
        _TRAINING, "names of the files to train on; the first pattern that fits any counts"
    )
    eval_pattern: tuple[str, ...] = option(_EVALUATION, "names of the files to evaluate, likewise")


class SegmentationTfrecord(SegmentedImages):
    """Images and masks in TFRecord files with DeepLab's keys; masks are PNGs of grey values.

    All records are found at the start, so that training shuffles all of them; the folder
    `.tf_frame` next to the files caches their places. Gzipped files are unpacked there once.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=_with_known_label(params), info=info)

    def find(self) -> None:
        with naming_look_alikes(self.params.data_dir, INPUTS, ()):
            folder, training, evaluation, self.parts = record_splits(self.params)
        self.use(self._class_names(folder), training, evaluation)

    def notes(self) -> Sequence[str]:
        """Tells that the file of classes differs from the known data set."""
        path = Path(self.params.data_dir).expanduser() / "classes.txt"
        if self.params.dataset == _UNKNOWN or not path.exists():
            return ()
        count = len(read_classes(path, ignore_label=self.params.ignore_label).names)
        if count == self.info.num_classes:
            return ()
        return (
            f"{path} names {count} classes, but --input.dataset {self.params.dataset} has"
            f" {self.info.num_classes}; the file is not used",
        )

    def content(self, split: Split) -> SplitContent:
        facts = read_record_facts(
            split.content, self._read_counts, max_pixels=self.params.max_pixels, most=_MOST_MASKS
        )
        masks = [mask for mask, _ in facts.labels]
        counts = count_pixels(
            (counts for _, counts in facts.labels), self.class_names, self.params.ignore_label
        )
        return record_content(split, facts, counts, labels=masks)

    def _read_counts(self, values: Values) -> tuple[bytes, Mapping[int, int]] | None:
        """Returns a digest of the mask of a record, and the number of pixels of each value."""
        mask = first_bytes(values(MASK))
        try:
            counts = count_values(load_mask(mask, max_pixels=self.params.max_pixels))
        except ImageError:
            return None  # Reading the examples names it.
        return hashlib.sha256(mask).digest(), counts

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_deeplab.inputs.segmentation_records import image_and_mask
        from tf_frame_vision.reading.records import record_examples

        form = image_and_mask(self.params.max_pixels)
        return record_examples(split.content, order, form, self.params)

    def checked(self, example: Any) -> Any:
        """Finds a mask of another size, and pixels without a class."""
        import tensorflow.compat.v1 as tf

        mask_name = tf.strings.join([example["name"], ": its mask"])
        return super().checked({**example, "mask_name": mask_name})

    def _class_names(self, folder: Path) -> Sequence[str]:
        """Returns the names of the classes, and sets their colours and ids."""
        params = self.params
        if params.dataset != _UNKNOWN:
            dataset = KNOWN[params.dataset]
            self.class_colours, self.class_ids = dataset.colours, dataset.ids
            return dataset.class_names
        path = Path(params.classes).expanduser() if params.classes else folder / "classes.txt"
        if not path.exists():
            raise DataError(
                f"{short(path)} is missing; write it, a name of a class in each line, or say "
                f"which known data set this is: --input.dataset {'|'.join(KNOWN)}"
            )
        classes = read_classes(path, ignore_label=params.ignore_label)
        self.class_colours = classes.red_green_blue
        return classes.names


def _with_known_label(params: Params) -> Params:
    """Returns the options with the ignored label of a known data set.

    Raises:
      ConfigError: the options name classes or an ignored label of their own as well.
    """
    if params.dataset == _UNKNOWN:
        return params
    label = KNOWN[params.dataset].ignore_label
    if params.ignore_label not in (label, _DEFAULT_LABEL):
        raise ConfigError(
            f"--input.ignore_label {params.ignore_label} contradicts --input.dataset"
            f" {params.dataset}, which ignores {label}; leave one out"
        )
    if params.classes:
        raise ConfigError("--input.classes has no effect with --input.dataset; leave one out")
    return dataclasses.replace(params, ignore_label=label)
