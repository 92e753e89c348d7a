"""Base class of inputs of images with boxes: sizes, prediction and serving.

features, of a batch:

    image          [batch, height, width, 3] float32, 0 to 255
    image_size     [batch, 2] int32, height and width of the part of `image` that is not padding
    original_size  [batch, 2] int32, height and width of the file
    name           [batch] string
    image_id       [batch] int64, COCO's number, of `coco_json`

labels, padded to the most objects of a batch or to `max_boxes`:

    boxes          [batch, count, 4] float32, upper, left, lower, right in pixels of `image`
    rotated_boxes  [batch, count, 5] float32, see `tf_frame_detection.boxes.rotated`
    classes        [batch, count] int32, 0 and more; -1 for padding
    ignored        [batch, count] bool, neither right nor wrong
    crowd          [batch, count] bool, those of the ignored that stand for many objects
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import Input, InputContext, InputInfo, Mode, ServingForm, option
from tf_frame.errors import ConfigError
from tf_frame_vision.example_input import IMAGE_SUFFIXES

# Values that pad the labels of an example to the size of the batch's largest one.
PADDING: Mapping[str, float] = {"classes": -1, "ignored": False, "crowd": False}
_SERVING_SIZE = 320


@dataclasses.dataclass(frozen=True)
class SizeOptions:
    """Options that all inputs have."""

    max_boxes: int | None = option(
        None, "boxes to which each image's are padded or cut; none: the most of a batch", min=1
    )


# The labels of every input; those that have rotated boxes give them as well.
UPRIGHT_LABELS = ("boxes", "classes", "ignored", "crowd")


class DetectionInput(Input):
    """Input of images and boxes; a subclass defines `sizes_of`, `num_examples`, and `dataset`.

    Attributes:
      trained: the info of the training, where the data is not there; else None.
      class_names, class_ids: the classes, and the data set's own ids of them.
      num_examples: examples in each mode.
    """

    prediction_suffixes: ClassVar[Sequence[str]] = IMAGE_SUFFIXES
    feature_names: ClassVar[Sequence[str]] = ("image", "image_size", "original_size", "name")
    label_names: ClassVar[Sequence[str]] = (*UPRIGHT_LABELS, "rotated_boxes")
    trained: InputInfo | None = None
    class_names: Sequence[str] = ()
    class_ids: Sequence[int] = ()

    @classmethod
    def without_data(cls, *, params: Any, info: InputInfo) -> Input:
        """Constructs the input for prediction of files, with the classes of the training."""
        return cls(params=params, info=info)  # type: ignore[call-arg]

    @property
    def num_examples(self) -> Mapping[Mode, int]:
        """Examples in each mode."""
        raise NotImplementedError(f"{type(self).__name__} does not define num_examples")

    @property
    def info(self) -> InputInfo:
        """Sizes of the splits, and the classes of objects; there is no background."""
        if self.trained is not None:
            return self.trained
        return InputInfo(
            num_examples=self.num_examples,
            num_classes=len(self.class_names),
            class_names=tuple(self.class_names),
            class_ids=tuple(self.class_ids or range(1, len(self.class_names) + 1)),
        )

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width to which images are resized; None: they stay as they are."""
        sides = getattr(self.params, "image_size", ())
        return (sides[0], sides[-1]) if sides else None

    def fit(self, labelled: Any) -> tuple[Any, Any]:
        """Resizes an image with its objects to `size`; see `labelled.fit_to_size`."""
        from tf_frame_detection.augmentation.labelled import fit_to_size, height_and_width

        if not self.size:
            return labelled, height_and_width(labelled)
        params = self.params
        return fit_to_size(
            labelled,
            *self.size,
            keep_aspect_ratio=params.keep_aspect_ratio,
            resizing=params.resizing,
        )

    def image_features(self, image: Any) -> dict[str, Any]:
        """Returns `image`, `image_size` and `original_size` of a decoded image."""
        import tensorflow.compat.v1 as tf

        from tf_frame_detection.augmentation.labelled import Labelled

        pixels = tf.cast(image, tf.float32)
        fit, inner = self.fit(Labelled(pixels, tf.zeros([0, 4]), None, None, None))
        original = tf.shape(image)[:2]
        return {"image": fit.image, "image_size": inner, "original_size": original}

    def serving_features(self) -> Any:
        """Returns `{"image": [None, height, width, 3]}` float32, 0 to 255, without padding."""
        import tensorflow.compat.v1 as tf

        height, width = self.size or (_SERVING_SIZE, _SERVING_SIZE)
        return {"image": tf.TensorSpec([None, height, width, 3], tf.float32)}

    @property
    def feature_values(self) -> Mapping[str, str]:
        """Values of the features."""
        return {
            "image": "RGB, 0 to 255",
            "image_size": "height and width without padding, in pixels",
            "original_size": "height and width of the file's image, in pixels",
        }

    def draw_examples(self, features: Any, labels: Any) -> Sequence[tuple[Any, str]]:
        """Returns the images with their boxes, above the names of the classes."""
        from tf_frame_detection.evaluation.truth_pictures import truth_pictures

        return truth_pictures(features, labels, self.info)

    def raw_serving(
        self, *, fixed_size: bool | tuple[int, int] = False
    ) -> Mapping[str, ServingForm]:
        """Returns the forms image files and pixels, resized in the graph; or pixels of one size."""
        import tensorflow.compat.v1 as tf

        from tf_frame_vision import raw_serving

        def pictures(count: int) -> Any:
            batches = self.dataset(Mode.EVAL, InputContext(batch_size=1))
            return batches.unbatch().map(lambda features, labels: features["image"])

        whole = tf.TensorSpec([2], tf.int32)
        return raw_serving.image_forms(
            self.image_features,
            raw_serving.random_pictures
            if self.trained
            else lambda count: raw_serving.first_pictures(lambda: pictures(count), count),
            fixed_size=raw_serving.size_of_pixels(
                fixed_size, self.size or (_SERVING_SIZE, _SERVING_SIZE)
            ),
            are_real=not self.trained,
            of_one_size=self.size is None,
            options=self.params,
            signature={
                "image": tf.TensorSpec([*(self.size or (None, None)), 3], tf.float32),
                "image_size": whole,
                "original_size": whole,
            },
        )

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns batches of the features; of one image each where sizes differ.

        Args:
          paths: image files of any size; see `prediction_suffixes`.
          context: the batch size.
        """
        from tf_frame_vision.reading.image_files import images_to_predict

        batch_size = context.batch_size if self.size else 1
        return images_to_predict(
            paths,
            self.image_features,
            batch_size=batch_size,
            skip_corrupt=getattr(self.params, "skip_corrupt", False),
            options=self.params,
        )

    def padded(self, labels: dict[str, Any]) -> dict[str, Any]:
        """Pads the labels of an image to `max_boxes`, or cuts them, if the option is given."""
        import tensorflow.compat.v1 as tf

        most = self.params.max_boxes
        if most is None:
            return labels

        def of_size(name: str, values: Any) -> Any:
            values = values[:most]
            edges = [[0, most - tf.shape(values)[0]]] + [[0, 0]] * (values.shape.rank - 1)
            fill = tf.constant(PADDING.get(name, 0), values.dtype)
            inner = values.shape.as_list()[1:]
            return tf.ensure_shape(tf.pad(values, edges, constant_values=fill), [most, *inner])

        return {name: of_size(name, values) for name, values in labels.items()}


def make_labels(labelled: Any, *, rotated: bool) -> dict[str, Any]:
    """Returns the labels of an image.

    Args:
      labelled: a `tf_frame_detection.augmentation.labelled.Labelled`.
      rotated: whether there are rotated boxes, made of the corners.
    """
    labels = {
        "boxes": labelled.boxes,
        "classes": labelled.classes,
        "ignored": labelled.ignored,
        "crowd": labelled.crowd,
    }
    if rotated:
        from tf_frame_detection.boxes.rotated import from_corners

        labels["rotated_boxes"] = from_corners(labelled.corners)
    return labels


def check_size(params: Any) -> None:
    """Checks the options of sizes against each other.

    Raises:
      ConfigError: a size has more than two numbers, or there is none where it is needed.
    """
    if len(params.image_size) > 2:
        raise ConfigError("--input.image_size: give HEIGHT,WIDTH, or one number for both")
    if params.keep_aspect_ratio and not params.image_size:
        raise ConfigError("--input.keep_aspect_ratio has no effect without --input.image_size")
