"""Base class of inputs of words: label map, size of the images, prediction and serving.

features, of a batch:

    image   [batch, height, width, channels] float32, 0 to 255
    name    [batch] string, in evaluation and prediction

labels:

    text    [batch, max_length] int32, numbers of the label map, -1 behind the end
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import Input, InputContext, InputInfo, Mode, ServingForm, option
from tf_frame.errors import ConfigError
from tf_frame_recognition.labels import LOWER, LabelMap, load_label_map
from tf_frame_vision.example_input import IMAGE_SUFFIXES
from tf_frame_vision.reading.folders import naming_unreadable


@dataclasses.dataclass(frozen=True)
class TextOptions:
    """Options that all inputs of words have."""

    image_size: tuple[int, ...] = option(
        (32, 160), "size of the resized images in pixels: HEIGHT,WIDTH", min=8
    )
    channels: int = option(1, "1 for grey, 3 for colour", choices=(1, 3))
    characters: str = option(
        LOWER, "label map: digits, lower, case, printable, or a UTF-8 file, a character a line"
    )
    max_length: int = option(25, "the most characters of a word", min=1)


class TextInput(Input):
    """Input of images of words; a subclass defines `num_examples` and `dataset`.

    Attributes:
      label_map: the characters.
      height, width: of the images, in pixels.
      trained: the info of the training, where the data is not there; else None.
    """

    Params: ClassVar[type] = TextOptions
    prediction_suffixes: ClassVar[Sequence[str]] = IMAGE_SUFFIXES
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("text",)
    shared_options: ClassVar[Sequence[str]] = ("image_size", "channels", "max_length")

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params)
        if len(params.image_size) != 2:
            raise ConfigError("--input.image_size needs two numbers: HEIGHT,WIDTH")
        self.height, self.width = params.image_size
        self.trained = info
        if info is None:
            self.label_map = load_label_map(params.characters)
            with naming_unreadable():
                self.find()
        else:
            self.label_map = LabelMap(info.class_names)

    @classmethod
    def without_data(cls, *, params: Any, info: InputInfo) -> Input:
        """Constructs the input for prediction of files, with the characters of the training."""
        return cls(params=params, info=info)

    def find(self) -> None:
        """Finds the data.

        Raises:
          DataError: it does not exist.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define find()")

    @property
    def num_examples(self) -> Mapping[Mode, int]:
        """Examples in each mode that are known in number."""
        raise NotImplementedError(f"{type(self).__name__} does not define num_examples")

    @property
    def info(self) -> InputInfo:
        """Sizes of the splits, and the characters."""
        if self.trained is not None:
            return self.trained
        characters = self.label_map.characters
        return InputInfo(
            num_examples=self.num_examples, num_classes=len(characters), class_names=characters
        )

    def resized(self, image: Any) -> Any:
        """Returns `[height, width, channels]` float32, 0 to 255; the aspect ratio is not kept.

        Args:
          image: `[height, width, 3]` uint8 of any size.
        """
        import tensorflow.compat.v1 as tf

        if self.params.channels == 1:
            image = tf.image.rgb_to_grayscale(image)
        size = [self.height, self.width]
        # Antialiasing changes nothing where an image grows.
        pixels = tf.compat.v2.image.resize(image, size, antialias=True)
        return tf.ensure_shape(pixels, [*size, self.params.channels])

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns batches of `image` and `name`.

        Args:
          paths: image files of any size; see `prediction_suffixes`.
          context: the batch size.
        """
        from tf_frame_vision.reading.image_files import images_to_predict

        skip = getattr(self.params, "skip_corrupt", False)
        return images_to_predict(
            paths,
            self.resized,
            batch_size=context.batch_size,
            skip_corrupt=skip,
            options=self.params,
        )

    def serving_features(self) -> Any:
        """`{"image": [None, height, width, channels]}` float32, 0 to 255."""
        import tensorflow.compat.v1 as tf

        shape = [None, self.height, self.width, self.params.channels]
        return {"image": tf.TensorSpec(shape, tf.float32)}

    @property
    def feature_values(self) -> Mapping[str, str]:
        """Values of the features."""
        return {"image": "grey, 0 to 255" if self.params.channels == 1 else "RGB, 0 to 255"}

    def draw_examples(self, features: Any, labels: Any) -> Sequence[tuple[Any, str]]:
        """Returns the images, each above its word."""
        from tf_frame_vision.drawing.sheet import fitted

        texts = [self.label_map.text(ids) for ids in labels["text"]]
        pictures = [
            fitted(image.repeat(3 // image.shape[2], axis=2)) for image in features["image"]
        ]
        return list(zip(pictures, texts, strict=True))

    def raw_serving(
        self, *, fixed_size: bool | tuple[int, int] = False
    ) -> Mapping[str, ServingForm]:
        """Image files and pixels of any size; or pixels of the size of the features."""
        from tf_frame_vision import raw_serving

        def images() -> Any:
            batches = self.dataset(Mode.EVAL, InputContext(batch_size=1))
            return batches.unbatch().map(lambda features, labels: features["image"])

        return raw_serving.image_forms(
            self.resized,
            raw_serving.random_pictures
            if self.trained
            else lambda count: raw_serving.first_pictures(images, count),
            fixed_size=raw_serving.size_of_pixels(fixed_size, (self.height, self.width)),
            are_real=not self.trained,
            options=self.params,
        )
