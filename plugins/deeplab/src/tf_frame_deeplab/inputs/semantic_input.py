"""Base class of inputs of images with a class for each pixel: prediction and serving.

The network takes images of any size as they are, so that all such inputs predict and serve alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import Input, InputContext, InputInfo, Mode, ServingForm
from tf_frame_vision.example_input import IMAGE_SUFFIXES


class SemanticInput(Input):
    """Input of `{"image": [batch, height, width, 3]}` and `{"semantic": [batch, height, width]}`.

    Attributes:
      trained: the info of the training if the data is missing; else None.
    """

    prediction_suffixes: ClassVar[Sequence[str]] = IMAGE_SUFFIXES
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("semantic",)
    trained: InputInfo | None = None

    @classmethod
    def without_data(cls, *, params: Any, info: InputInfo) -> Input:
        """Constructs the input for prediction of files, with the classes of the training."""
        return cls(params=params, info=info)  # type: ignore[call-arg]

    @property
    def serving_size(self) -> tuple[int, int]:
        """Height and width of images in a format that fixes them."""
        raise NotImplementedError(f"{type(self).__name__} does not define serving_size")

    def serving_features(self) -> Any:
        """Returns `{"image": [None, height, width, 3]}` float32, 0 to 255; see `serving_size`."""
        import tensorflow.compat.v1 as tf

        return {"image": tf.TensorSpec([None, *self.serving_size, 3], tf.float32)}

    @property
    def feature_values(self) -> Mapping[str, str]:
        """Values of the image."""
        return {"image": "RGB, 0 to 255"}

    def network_image(self, image: Any) -> Any:
        """Returns an image `[height, width, 3]` as the network sees it in an evaluation: float32.

        Args:
          image: uint8, of any size.
        """
        return _as_floats(image)

    def draw_examples(self, features: Any, labels: Any) -> Sequence[tuple[Any, str]]:
        """Returns the images under the colours of their classes, with a legend."""
        from tf_frame_vision.drawing.sheet import masked_picture

        info = self.info
        return [
            (
                masked_picture(
                    image,
                    classes,
                    class_names=info.class_names,
                    colours=info.class_colours,
                    ignore_label=info.ignore_label,
                ),
                "",
            )
            for image, classes in zip(features["image"], labels["semantic"], strict=True)
        ]

    def raw_serving(
        self, *, fixed_size: bool | tuple[int, int] = False
    ) -> Mapping[str, ServingForm]:
        """Returns the forms: image files and pixels of one size a batch, or of `serving_size`.

        Images of a fixed size are not resized.
        """
        from tf_frame_vision import raw_serving

        def pictures(count: int) -> Any:
            batches = self.dataset(Mode.EVAL, InputContext(batch_size=count))
            return batches.unbatch().map(lambda features, labels: features["image"])

        return raw_serving.image_forms(
            _as_floats if fixed_size else self.network_image,
            raw_serving.random_pictures
            if self.trained
            else lambda count: raw_serving.first_pictures(lambda: pictures(count), count),
            fixed_size=raw_serving.size_of_pixels(fixed_size, self.serving_size),
            are_real=not self.trained,
            of_one_size=True,
            options=self.params,
        )

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns batches of one, as sizes differ.

        The features are `image` `[1, height, width, 3]`, see `network_image`; `original_size`
        `[1, 2]`, height and width of the file; and `name` `[1]`, its path. With the option
        `skip_corrupt`, files that cannot be decoded are left out.

        Args:
          paths: image files of any size; see `prediction_suffixes`.
          context: not used.
        """
        import tensorflow.compat.v1 as tf

        from tf_frame_vision.reading.image_files import images_to_predict

        def features(image: Any) -> dict[str, Any]:
            return {"image": self.network_image(image), "original_size": tf.shape(image)[:2]}

        return images_to_predict(
            paths,
            features,
            skip_corrupt=getattr(self.params, "skip_corrupt", False),
            options=self.params,
        )


def _as_floats(image: Any) -> Any:
    import tensorflow.compat.v1 as tf

    return tf.cast(image, tf.float32)


def count_pixels(
    masks: Iterable[Mapping[int, int]], class_names: Sequence[str], ignore_label: int | None
) -> dict[str, Any]:
    """Returns the counts of a `SplitContent`.

    Args:
      masks: class, or label of pixels that do not count -> number of pixels, of each mask.
      class_names: the classes.
      ignore_label: label of pixels that do not count, or None.
    """
    total: Counter[int] = Counter()
    for mask in masks:
        total.update(mask)
    without_label = 0 if ignore_label is None else total.pop(ignore_label, 0)
    counts = {name: total[number] for number, name in enumerate(class_names)}
    return {"counts": counts, "without_label": without_label}
