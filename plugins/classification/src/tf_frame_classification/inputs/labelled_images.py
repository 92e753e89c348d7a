"""Base class of inputs of labelled images: classes, image size, preprocessing.

A subclass only finds and reads images and labels. Size, channels, preprocessing and offset of the
labels are options of all these inputs, so that any network can train on any of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import Input, InputContext, InputInfo, Mode, ServingForm, option
from tf_frame.errors import ConfigError
from tf_frame_vision.data_content import count_classes
from tf_frame_vision.example_input import ExampleInput, ExampleOptions, Split
from tf_frame_vision.preprocessing import load_preprocessing
from tf_frame_vision.reading.folders import naming_unreadable
from tf_frame_vision.resizing import ResizingOptions

# Key of the label in records.
LABEL = "image/class/label"


@dataclasses.dataclass(frozen=True)
class LabelledImageOptions(ResizingOptions, ExampleOptions):
    """Options of all inputs of labelled images."""

    image_size: int | None = option(
        None,
        "height and width of the network's images, in pixels; none: as the data, or 224",
        min=1,
    )
    channels: int | None = option(
        None, "1 for grey, 3 for colour; none: as the data", choices=(1, 3)
    )
    preprocessing: str = option("none", "preprocessing family, such as inception, vgg, lenet")
    augment: bool = option(True, "vary training images at random as the family does")
    labels_offset: int = option(
        0,
        "subtracted from labels and the number of classes; 1 where 0 is background, -1 to add it",
        min=-1,
    )


class LabelledImages(ExampleInput):
    """Input of labelled images; a subclass finds and reads examples with `image` and `label`.

    A subclass defines `find`, which the constructor calls.

    Attributes:
      size: height and width of the prepared images, in pixels.
      channels: 1 or 3.
      preprocess: the preprocessing, constructed.
    """

    Params: ClassVar[type] = LabelledImageOptions
    thread_safe_build: ClassVar[bool] = True
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("label",)
    data_size: ClassVar[int] = 224
    data_channels: ClassVar[int] = 3
    # The option that sets the number of classes in addition to --input.labels_offset, for messages.
    classes_from: ClassVar[str] = ""

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params)
        self.size: int = params.image_size or self.data_size
        self.channels: int = params.channels or self.data_channels
        self.preprocess = load_preprocessing(params.preprocessing, resizing=params.resizing)
        self._trained = info
        if info is None:
            with naming_unreadable():
                self.find()

    @classmethod
    def without_data(cls, *, params: Any, info: InputInfo) -> Input:
        """Constructs the input for prediction of files, with the classes of the training."""
        return cls(params=params, info=info)

    def find(self) -> None:
        """Finds the data, and calls `use`.

        Raises:
          DataError: the data does not exist.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define find()")

    def use(self, class_names: Sequence[str], training: Split, evaluation: Split) -> None:
        """Sets classes and splits that the subclass has found.

        Args:
          class_names: a name for each label of the data, without regard to the offset.
          training: the examples to train on.
          evaluation: the examples to evaluate and predict.

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
        self.splits = {Mode.TRAIN: training, Mode.EVAL: evaluation, Mode.PREDICT: evaluation}

    @property
    def info(self) -> InputInfo:
        """Sizes of the splits, and the classes."""
        if self._trained is not None:
            return self._trained
        return InputInfo(
            num_examples={mode: split.count for mode, split in self.splits.items()},
            num_classes=len(self.class_names),
            class_names=self.class_names,
        )

    def count_labels(self, labels: Any) -> dict[str, int]:
        """Returns class name -> number of labels of the data; those without a class are left out.

        Args:
          labels: `[count]` integers, without regard to `--input.labels_offset`.
        """
        import numpy as np

        shifted = np.asarray(labels, np.int64) - self.params.labels_offset
        has_class = (shifted >= 0) & (shifted < len(self.class_names))
        return count_classes(shifted[has_class], self.class_names)

    def checked(self, example: Any) -> Any:
        """Subtracts the offset from the label; a label without a class is a problem."""
        import tensorflow.compat.v1 as tf

        offset, count = self.params.labels_offset, len(self.class_names)
        hint = f" (set by {self.classes_from})" if self.classes_from else ""
        label = example["label"] - offset
        message = [
            *(example["name"], ": its label is ", tf.strings.as_string(example["label"])),
            f"; labels are {offset} to {offset + count - 1}, of {count} classes{hint}",
        ]
        has_class = (label >= 0) & (label < count)
        problem = tf.where(
            has_class | tf.not_equal(example["problem"], ""),
            example["problem"],
            tf.strings.join(message),
        )
        return {**example, "label": label, "problem": problem}

    def prepare(self, example: Any, *, is_training: bool, seed: Any) -> tuple[dict[str, Any], Any]:
        """Returns `{"image": ...}` and `{"label": ...}`.

        Images are `[size, size, channels]` float32, preprocessed; labels scalar int32.
        """
        import tensorflow.compat.v1 as tf

        image = self._prepared_image(example["image"], is_training=is_training, seed=seed)
        return {"image": image}, {"label": tf.cast(example["label"], tf.int32)}

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns batches of `{"image": [batch, size, size, channels], "name": [batch]}`.

        Args:
          paths: image files of any size; see `prediction_suffixes`.
          context: the batch size.
        """
        from tf_frame_vision.reading.image_files import images_to_predict

        return images_to_predict(
            paths,
            self._image_to_predict,
            batch_size=context.batch_size,
            skip_corrupt=self.params.skip_corrupt,
            options=self.params,
        )

    def serving_features(self) -> Any:
        """`{"image": [None, size, size, channels]}` float32, after preprocessing."""
        import tensorflow.compat.v1 as tf

        return {"image": tf.TensorSpec([None, self.size, self.size, self.channels], tf.float32)}

    @property
    def feature_values(self) -> Mapping[str, str]:
        """Values of the preprocessed image."""
        return {"image": self.preprocess.values}

    def raw_serving(
        self, *, fixed_size: bool | tuple[int, int] = False
    ) -> Mapping[str, ServingForm]:
        """Image files and pixels of any size; or pixels of a size that is not scaled."""
        from tf_frame_vision import raw_serving

        # A preprocessing need not inherit from `tf_frame.Preprocessing`.
        side = getattr(self.preprocess, "image_side", int)(self.size)
        return raw_serving.image_forms(
            self._image_to_predict,
            raw_serving.random_pictures if self._trained else self._pictures,
            fixed_size=raw_serving.size_of_pixels(fixed_size, (side, side)),
            are_real=not self._trained,
            options=self.params,
        )

    def _image_to_predict(self, image: Any) -> Any:
        """Returns the network's input of a decoded image, `[height, width, 3]` uint8."""
        import tensorflow.compat.v1 as tf

        return self._prepared_image(image, is_training=False, seed=tf.zeros([2], tf.int64))

    def _pictures(self, count: int) -> Any:
        """Returns at most so many images of the evaluation split, as they are in the files."""
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.raw_serving import first_pictures
        from tf_frame_vision.reading import pipeline
        from tf_frame_vision.reading.examples import without_autograph

        def images() -> Any:
            split = self.splits[Mode.EVAL]
            order = pipeline.evaluation_order(split.count, InputContext(batch_size=count))
            usable = self.read(split, order).filter(
                without_autograph(lambda number, example: tf.equal(example["problem"], ""))
            )
            return usable.map(without_autograph(lambda number, example: example["image"]))

        return first_pictures(images, count)

    def _prepared_image(self, image: Any, *, is_training: bool, seed: Any) -> Any:
        """Returns `[size, size, channels]` float32 of `[height, width, 1 or 3]` uint8."""
        import tensorflow.compat.v1 as tf

        if self.channels != image.shape[-1]:
            grey = tf.image.rgb_to_grayscale
            image = (grey if self.channels == 1 else tf.image.grayscale_to_rgb)(image)
        prepared = self.preprocess(
            image, height=self.size, width=self.size, is_training=is_training, seed=seed
        )
        return tf.ensure_shape(prepared, [self.size, self.size, self.channels])
