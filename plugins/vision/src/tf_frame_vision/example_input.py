"""Base class of inputs that read examples one by one: order, damaged examples, batches.

A plugin only finds, reads and prepares its examples. Shuffling of the whole data set, an exact
resume, sharding and `--input.skip_corrupt` come from here.

    class Photos(ExampleInput):
        def __init__(self, *, params):
            super().__init__(params=params)
            self.splits = {mode: Split(count, names) for mode in Mode}

        def read(self, split, order):
            return image_file_examples("photos", split.content, {}, order)

        def prepare(self, example, *, is_training, seed):
            return {"image": tf.cast(example["image"], tf.float32)}, {}

Nothing here imports TensorFlow before a data set is made.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from tf_frame import DataReport, DataWarning, Input, InputContext, Mode, option
from tf_frame.errors import NoDataError
from tf_frame_vision.data_content import SplitContent, find_unused, make_report
from tf_frame_vision.reading.image_options import ImageOptions
from tf_frame_vision.reading.splits import Splits

IMAGE_SUFFIXES = (
    *(".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff"),
    *(".ppm", ".pgm", ".pbm"),
)


# Figures of fewer evaluation examples say little. A larger part would leave too few to train on.
_ENOUGH, _LARGEST_FRACTION = 10, 0.3


@dataclasses.dataclass(frozen=True)
class ExampleOptions(ImageOptions):
    """Options of all inputs that read examples one by one."""

    data_dir: str = option("", "folder of the data")
    augment: bool = option(True, "whether training images are varied at random")
    shuffle_buffer: int | None = option(
        None, "neighbouring examples that are shuffled together; none: all; 0: no shuffling", min=0
    )
    skip_corrupt: bool = option(
        False, "leave out and report examples that cannot be read; else the first ends the run"
    )
    allow_outside: bool = option(
        False, "whether paths in data files may be absolute, or lead out of the data folder"
    )


@dataclasses.dataclass(frozen=True)
class Split:
    """One part of the data, such as the training examples.

    Attributes:
      count: number of examples.
      content: files and positions of the examples, in the form that `ExampleInput.read` takes.
      damaged: parts of the data that cannot be read and are left out, a line each.
      absent: why there is no example, if there is none: the error of a run that asks for one.
    """

    count: int
    content: Any
    damaged: Sequence[str] = ()
    absent: str = ""


def absent_split(why: str | Exception) -> Split:
    """Returns a split without an example: the data has no such part.

    Args:
      why: what is missing and what to do.
    """
    return Split(0, None, absent=str(why))


def nothing_held_out(params: Any, place: object, alternative: str = "") -> Split:
    """Returns a split without an example, as the option `eval_fraction` leaves none.

    Args:
      alternative: a clause such as `, or give --input.eval_dir`.
    """
    return absent_split(
        f"--input.eval_fraction {params.eval_fraction} of {place} leaves nothing to evaluate. "
        f"Make it larger{alternative}"
    )


class ExampleInput(Input):
    """Input that reads examples one by one; a subclass finds, reads and prepares them.

    Attributes:
      splits: the examples of each mode, set by the constructor of the subclass.
      names_examples: whether evaluation examples get a feature `name`.
      padding: with what examples of several sizes are padded; see `pipeline.batched`.
      counted_unit: the thing that `content` counts; see `tf_frame.DataReport`.
      matches_classes_by: name of the option by which labels of other data become those of a
        training, by the names of the classes; empty: labels are numbers in the data itself.
      parts: the parts of the data folder by their names; empty: it has none, or none are looked
        for.
    """

    Params: ClassVar[type] = ExampleOptions
    everyday_options: ClassVar[Sequence[str]] = (
        *("data_dir", "image_size", "crop_size", "preprocessing", "augment", "skip_corrupt"),
        *("classes", "characters", "fonts", "class_names", "eval_fraction", "eval_split"),
        *("eval_dir", "train_list", "eval_list", "train_labels", "eval_labels"),
    )
    prediction_suffixes: ClassVar[Sequence[str]] = IMAGE_SUFFIXES
    names_examples: ClassVar[bool] = True
    counted_unit: ClassVar[str] = "examples"
    matches_classes_by: ClassVar[str] = ""
    padding: Mapping[str, float] | None = None
    splits: Mapping[Mode, Split] = MappingProxyType({})
    parts: Splits = Splits()

    def notes(self) -> Sequence[str]:
        """Names unused parts of the data, and tells that few examples are held out."""
        return (*self.parts.notes(), *self._few_held_out())

    def _few_held_out(self) -> Iterator[str]:
        fraction = getattr(self.params, "eval_fraction", 0)
        if self.parts.eval is not None or not 0 < fraction < 1 or Mode.EVAL not in self.splits:
            return
        count = self.splits[Mode.EVAL].count
        total = count + self.splits[Mode.TRAIN].count
        larger = min(_LARGEST_FRACTION, math.ceil(20 * _ENOUGH / total) / 20)
        if 0 < count < _ENOUGH and round(larger * total) > count:
            yield (
                f"{count} held-out example{'s' if count > 1 else ''}: figures of so few vary by "
                f"chance; --input.eval_fraction {larger:g} holds out about {larger * total:.0f} of "
                f"{total}"
            )

    def data_report(self) -> DataReport:
        """Returns the content of both splits, and faults; see `content`."""
        splits = {
            mode: self.splits[mode]
            for mode in (Mode.TRAIN, Mode.EVAL)
            if mode in self.splits and not self.splits[mode].absent
        }
        contents = {mode: self.content(split) for mode, split in splits.items()}
        unused = find_unused(self.params, contents.values())
        return make_report(
            contents,
            examples={mode: self.info.num_examples.get(mode) for mode in splits},
            damaged={mode: split.damaged for mode, split in splits.items()},
            unit=self.counted_unit,
            class_names=self.info.class_names,
            unused=[*dict.fromkeys([*self.parts.unused, *unused])],
            warnings=self.data_warnings(contents.get(Mode.TRAIN, SplitContent())),
            image_range=getattr(self.params, "image_range", ()),
        )

    def content(self, split: Split) -> SplitContent:
        """Returns the content of a split, as far as the constructor knows it."""
        return SplitContent()

    def data_warnings(self, training: SplitContent) -> Sequence[DataWarning]:
        """Returns faults of the data that only the subclass sees.

        Args:
          training: the content of the training data.
        """
        return ()

    def read(self, split: Split, order: Any) -> Any:
        """Returns a data set of `(number, example)`; see `tf_frame_vision.reading`.

        Args:
          split: the part of the data.
          order: data set of `(number, index)`, both scalar int64: the example's number in
            the stream, and its index in the split.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define read()")

    def prepare(self, example: Any, *, is_training: bool, seed: Any) -> tuple[dict[str, Any], Any]:
        """Returns features and labels of an example.

        Args:
          example: an example of `read` without a problem.
          is_training: whether to augment it.
          seed: `[2]` integers for the augmentation.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define prepare()")

    def checked(self, example: Any) -> Any:
        """Returns the example, with a `problem` where it cannot be used."""
        return example

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns batches of the features and labels of `prepare`; see `Input.dataset`.

        In evaluation there may be a feature `name`, `[batch]` string. With `skip_corrupt`
        there are the features that `tf_frame_vision.reading.skipped` describes.

        Raises:
          NoDataError: the data has no such part.
        """
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.reading import pipeline

        split, params, training = self.splits[mode], self.params, mode == Mode.TRAIN
        if split.absent:
            raise NoDataError(split.absent)
        if not split.count:
            example = f" can be used: {split.damaged[0]}" if split.damaged else " is there"
            raise NoDataError(f"not one example of the {mode.value} data{example}")
        if training:
            together = params.shuffle_buffer
            order = pipeline.training_order(split.count, context, together=together)
        else:
            order = pipeline.evaluation_order(split.count, context)

        def prepared(number: Any, example: Any) -> Any:
            seed = tf.stack([tf.constant(context.seed, tf.int64), number])
            is_training = training and params.augment
            features, labels = self.prepare(example, is_training=is_training, seed=seed)
            if self.names_examples and not training:
                features = {**features, "name": example["name"]}
            return features, labels

        examples = pipeline.prepared(
            self.read(split, order),
            prepared,
            check=self.checked,
            count=split.count,
            damaged=split.damaged,
            skip_corrupt=params.skip_corrupt,
        )
        return pipeline.batched(
            examples, context.batch_size, drop_remainder=training, padding=self.padding
        )
