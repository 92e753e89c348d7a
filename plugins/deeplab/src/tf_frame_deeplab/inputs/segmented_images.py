"""Base class of inputs of segmented images of any size: pipeline, checks, sizes.

A subclass only finds and reads images and masks. Training takes random crops as DeepLab's trainers
do; evaluation takes whole images, padded to the largest image of their batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from tf_frame import DataReport, DataWarning, InputInfo, Mode, option
from tf_frame.errors import ConfigError
from tf_frame_deeplab.heads import EDGE
from tf_frame_deeplab.inputs.mean_pixel import MEAN_PIXEL
from tf_frame_deeplab.inputs.semantic_input import SemanticInput
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import ExampleInput, ExampleOptions, Split
from tf_frame_vision.reading.folders import naming_unreadable
from tf_frame_vision.resizing import ResizingOptions

# Masks of fewer images may be the same by chance; so many are compared.
_SEVERAL, COMPARED_MASKS = 4, 20
# Crops with so many times the pixels of an image are mostly padding, except after random scaling.
# Sides of such a multiple fit every output stride without padding.
_MUCH_PADDING, _STRIDE = 1.5, 16


@dataclasses.dataclass(frozen=True)
class SegmentedImageOptions(ResizingOptions, ExampleOptions):
    """Options of all inputs of segmented images."""

    crop_size: tuple[int, ...] = option(
        (256,),
        "pixels of a training crop: HEIGHT,WIDTH, or one number for both; multiples of "
        "--model.output_stride, with --model.align_corners plus 1, need no padding",
        min=16,
    )
    eval_crop_size: tuple[int, ...] = option(
        (), "size of padded evaluation images; empty: the largest of a batch", min=16
    )
    min_resize_value: int | None = option(
        None,
        "first resize the smaller side of images to these pixels; none: no resizing",
        min=1,
    )
    max_resize_value: int | None = option(
        None, "most pixels of the larger side when resizing", min=1
    )
    resize_factor: int | None = option(
        None, "resized sides become a multiple of it plus one", min=1
    )
    min_scale_factor: float = option(0.5, "smallest random scale", min=0.1, max=10)
    max_scale_factor: float = option(2.0, "largest random scale", min=0.1, max=10)
    scale_factor_step_size: float = option(
        0.25, "difference between random scales; 0: any scale in between", min=0
    )
    flip: bool = option(True, "whether half of the training crops are mirrored left to right")
    distort_colors: bool = option(
        False,
        "whether brightness, saturation, hue and contrast of training crops are varied, so that "
        "the network sees objects of more colours",
    )
    edges: bool = option(False, "also yield edges: pixels near which another class begins")
    edge_width: int = option(
        3, "edges are where a square so wide, in pixels, is not all of one class", min=3
    )
    ignore_label: int = option(255, "value of pixels that do not count", min=0, max=65535)

    @property
    def crop(self) -> tuple[int, int]:
        """Height and width of a training crop."""
        return both(self.crop_size)


def both(size: Sequence[int]) -> tuple[int, int]:
    """Returns height and width of a size option of one or two numbers."""
    return size[0], size[-1]


class SegmentedImages(SemanticInput, ExampleInput):
    """Input of segmented images; examples have `image`, `mask` and `mask_name`.

    A subclass defines `find`, which the constructor calls, and `read`.

    Attributes:
      class_names: the classes.
      class_colours, class_ids: their colours and the data set's own ids; empty if unknown.
      splits: the examples of each mode.
    """

    Params: ClassVar[type] = SegmentedImageOptions
    thread_safe_build: ClassVar[bool] = True
    label_names: ClassVar[Sequence[str]] = ("semantic", EDGE)
    counted_unit: ClassVar[str] = "pixels"

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params)
        _check(params)
        self.trained = info
        self.class_names: Sequence[str] = ()
        self.class_colours: Sequence[Sequence[int]] = ()
        self.class_ids: Sequence[int] = ()
        self.padding = {"image": MEAN_PIXEL, "semantic": params.ignore_label}
        if params.edges:
            self.padding[EDGE] = params.ignore_label
        else:
            self.label_names = ("semantic",)  # type: ignore[misc]
        if info is None:
            with naming_unreadable():
                self.find()

    def find(self) -> None:
        """Finds the data, and calls `use`.

        Raises:
          DataError: the data does not exist, or is damaged.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define find()")

    def use(self, class_names: Sequence[str], training: Split, evaluation: Split) -> None:
        """Sets classes and splits that the subclass has found.

        Args:
          class_names: the classes.
          training: the examples to train on.
          evaluation: the examples to evaluate and predict.
        """
        self.class_names = class_names
        self.splits = {Mode.TRAIN: training, Mode.EVAL: evaluation, Mode.PREDICT: evaluation}

    @property
    def info(self) -> InputInfo:
        """Sizes of the splits, classes, and the label of pixels that do not count."""
        if self.trained is not None:
            return self.trained
        return InputInfo(
            num_examples={mode: split.count for mode, split in self.splits.items()},
            num_classes=len(self.class_names),
            class_names=tuple(self.class_names),
            ignore_label=self.params.ignore_label,
            class_colours=tuple(self.class_colours),
            class_ids=tuple(self.class_ids),
        )

    @property
    def serving_size(self) -> tuple[int, int]:
        """The size of a training crop."""
        return both(self.params.crop_size)

    def data_report(self) -> DataReport:
        """Returns the report of `ExampleInput`; it tells whether crops are larger than images."""
        report = super().data_report()
        sizes = report.splits[Mode.TRAIN].sizes if Mode.TRAIN in report.splits else ()
        if not sizes or self.params.min_resize_value is not None:
            return report
        return dataclasses.replace(
            report, remarks=(*report.remarks, *_large_crops(self.params.crop, sizes[-1]))
        )

    def some_masks(self, content: SplitContent) -> Iterable[Hashable]:
        """Yields masks to train on, evenly chosen, or digests of masks.

        Args:
          content: of the training data.
        """
        return content.labels

    def data_warnings(self, training: SplitContent) -> Sequence[DataWarning]:
        """Returns a warning if all masks to train on are the same, and have several classes."""
        count = self.splits[Mode.TRAIN].count
        if count < _SEVERAL or len([*filter(None, (training.counts or {}).values())]) < 2:
            return ()
        masks = iter(self.some_masks(training))
        first = next(masks, None)
        # The second mask tells, as a rule.
        if first is None or any(mask != first for mask in masks):
            return ()
        return (
            DataWarning(
                "constant_masks",
                f"all masks of {count} training images are the same, as far as they were compared",
                "check the masks: the images are not looked at if masks are always the same",
            ),
        )

    def checked(self, example: Any) -> Any:
        """Finds a mask of another size, and pixels without a class."""
        import tensorflow.compat.v1 as tf

        from tf_frame_deeplab.inputs.checks import find_problem

        problem = find_problem(example, len(self.class_names), self.params.ignore_label)
        problem = tf.where(tf.equal(example["problem"], ""), problem, example["problem"])
        return {**example, "problem": problem}

    def prepare(self, example: Any, *, is_training: bool, seed: Any) -> tuple[dict[str, Any], Any]:
        """Returns `{"image": [height, width, 3]}` float32 and `{"semantic": [height, width]}`.

        With the option `edges` there is a label `edge`, too; see `panoptic.targets.edge_labels`.
        """
        from tf_frame_deeplab.inputs import pictures

        params = self.params
        fill = {"mask_fill": params.ignore_label}
        sample = self._resized(example["image"], example["mask"])
        if is_training:
            sample = pictures.training_crop(sample, params, seed, **fill)
        elif params.eval_crop_size:
            sample = pictures.padded(sample, *both(params.eval_crop_size), **fill)
        return {"image": sample.image}, self.labels(sample.masks)

    def network_image(self, image: Any) -> Any:
        """Returns an image as floats, of the size that the options say.

        Args:
          image: `[height, width, 3]` uint8.
        """
        return self._resized(image).image

    def _resized(self, image: Any, mask: Any = None) -> Any:
        import tensorflow.compat.v1 as tf

        from tf_frame_deeplab.inputs import pictures
        from tf_frame_vision.augmentation import Sample

        return pictures.resized_to_range(
            Sample(tf.cast(image, tf.float32), masks=mask),
            smallest=self.params.min_resize_value,
            largest=self.params.max_resize_value,
            factor=self.params.resize_factor,
            resizing=self.params.resizing,
        )

    def labels(self, masks: Any) -> dict[str, Any]:
        """Returns the labels of an image.

        Args:
          masks: `[height, width, channels]` int32; the class of each pixel is the first channel.
        """
        labels = {"semantic": masks[..., 0]}
        if self.params.edges:
            import tensorflow.compat.v1 as tf

            from tf_frame_deeplab.panoptic.targets import edge_labels

            counts = tf.not_equal(labels["semantic"], self.params.ignore_label)
            labels[EDGE] = edge_labels(
                labels["semantic"], counts, self.params.edge_width, self.params.ignore_label
            )
        return labels


def _large_crops(crop: tuple[int, int], largest: Sequence[int]) -> Iterator[str]:
    """Yields a remark, with a smaller crop, if crops have many more pixels than an image."""
    times = crop[0] * crop[1] / (largest[0] * largest[1])
    if times >= _MUCH_PADDING:
        fitting = (
            min(-(-side // _STRIDE) * _STRIDE, most)
            for side, most in zip(largest, crop, strict=True)
        )
        yield (
            f"training crops, {crop[0]} x {crop[1]}, have {times:.1f} times the pixels of the "
            f"largest image; --input.crop_size {','.join(map(str, fitting))} makes a step faster"
        )


def _check(params: Any) -> None:
    """Checks options against each other.

    Raises:
      ConfigError: a size has more than two numbers, or a range is the wrong way round.
    """
    for name in ("crop_size", "eval_crop_size"):
        if len(getattr(params, name)) > 2:
            raise ConfigError(f"--input.{name}: give HEIGHT,WIDTH, or one number for both")
    for low, high in (
        ("min_scale_factor", "max_scale_factor"),
        ("min_resize_value", "max_resize_value"),
    ):
        least, most = getattr(params, low), getattr(params, high)
        if most is not None and least is not None and least > most:
            raise ConfigError(
                f"--input.{low} {least} is greater than --input.{high} {most}; swap them"
            )
    if params.min_resize_value is None and (params.max_resize_value or params.resize_factor):
        raise ConfigError(
            "--input.max_resize_value and --input.resize_factor have no effect without "
            "--input.min_resize_value"
        )
    if not params.crop_size:
        raise ConfigError("--input.crop_size is empty; give HEIGHT,WIDTH, or one number for both")
