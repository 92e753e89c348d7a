"""What the inputs of labelled images share: their options, and all that is no file format."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import Input, InputContext, InputInfo, Mode, option
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import PREPROCESSING
from tf_frame.plugin.load import load_plugin
from tf_frame_classification import DISTRIBUTION

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif")


@dataclasses.dataclass(frozen=True)
class ImageOptions:
    """Options that all inputs of labelled images have."""

    data_dir: str = option("", "folder of the data")
    image_size: int | None = option(
        None, "height and width the network gets, in pixels; none: those of the data, or 224", min=1
    )
    channels: int | None = option(
        None, "1 for grey, 3 for colour; none: as the data", choices=(1, 3)
    )
    preprocessing: str = option("none", "preprocessing family, such as inception, vgg, lenet")
    augment: bool = option(True, "whether training images are varied at random as the family does")
    labels_offset: int = option(
        0,
        "subtracted from labels and the number of classes; 1 where 0 is background, -1 to add it",
        min=-1,
    )
    shuffle_buffer: int | None = option(
        None, "neighbouring examples that are shuffled together; none: all; 0: no shuffling", min=0
    )
    skip_corrupt: bool = option(
        False, "leave out what cannot be read and say so, where it would end the run"
    )


@dataclasses.dataclass(frozen=True)
class Split:
    """One part of the data, such as that for training.

    Attributes:
      count: number of its examples.
      damaged: what is known not to be readable and is left out, a line each.
      content: where the examples are, as the input that made it needs it.
    """

    count: int
    content: Any
    damaged: Sequence[str] = ()


class ImageInput(Input):
    """Labelled images; a subclass finds them and says how to read one.

    The constructor of a subclass calls this one and then `use`.

    Attributes:
      size: height and width of the images that come out, in pixels.
      channels: 1 or 3.
      preprocess: the preprocessing, constructed.
      names_examples: whether evaluation examples get a feature `name`.
    """

    Params: ClassVar[type] = ImageOptions
    prediction_suffixes: ClassVar[Sequence[str]] = PICTURE_SUFFIXES
    names_examples: ClassVar[bool] = True
    data_size: ClassVar[int] = 224
    data_channels: ClassVar[int] = 3

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self.size: int = params.image_size or self.data_size
        self.channels: int = params.channels or self.data_channels
        family = load_plugin(PREPROCESSING, params.preprocessing, prefer=DISTRIBUTION).cls
        self.preprocess = family(params=family.Params())

    def use(self, class_names: Sequence[str], training: Split, evaluation: Split) -> None:
        """Takes what the subclass has found.

        Args:
          class_names: one for each label of the data, whatever the offset.
          training: the examples to train on.
          evaluation: those to evaluate and predict.

        Raises:
          ConfigError: `--input.labels_offset` leaves no class.
        """
        offset = self.params.labels_offset
        if offset >= len(class_names):
            raise ConfigError(
                f"--input.labels_offset {offset} leaves none of the {len(class_names)} classes of "
                "the data; it is 1 where label 0 is a background, else 0"
            )
        added = ("background",) if offset < 0 else ()
        self.class_names = (*added, *class_names[max(offset, 0) :])
        self.splits: Mapping[Mode, Split] = {
            Mode.TRAIN: training,
            Mode.EVAL: evaluation,
            Mode.PREDICT: evaluation,
        }

    @property
    def info(self) -> InputInfo:
        """Sizes of the splits, and the classes."""
        return InputInfo(
            num_examples={mode: split.count for mode, split in self.splits.items()},
            num_classes=len(self.class_names),
            class_names=self.class_names,
        )

    def examples(self, split: Split, order: Any) -> Any:
        """Returns a data set of what is read, one after the other, as `reading` describes it.

        Args:
          split: the part of the data.
          order: a data set of `(number, index)`, both scalar int64: the example's number in
            the stream, and which one of the split it is.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define examples()")

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns batches of `({"image": ...}, {"label": ...})`.

        Images are `[batch, size, size, channels]` float32, preprocessed; labels `[batch]`
        int32. In evaluation there may be a feature `name`, `[batch]` string. With
        `skip_corrupt` there are the features that `skipped` describes.
        """
        from tf_frame_classification import pipeline

        if mode == Mode.TRAIN:
            return pipeline.training_dataset(self, context)
        return pipeline.evaluation_dataset(self, context, mode)

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns batches of `{"image": [batch, size, size, channels], "name": [batch]}`.

        Args:
          paths: image files of any size; see `prediction_suffixes`.
          context: the batch size.
        """
        from tf_frame_classification.pictures import pictures

        return pictures(self, paths, context)

    def serving_features(self) -> Any:
        """`{"image": [None, size, size, channels]}` float32, after preprocessing."""
        import tensorflow.compat.v1 as tf

        return {"image": tf.TensorSpec([None, self.size, self.size, self.channels], tf.float32)}
