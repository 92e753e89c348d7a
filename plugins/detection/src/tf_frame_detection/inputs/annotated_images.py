"""Base classes of inputs of images of any size with boxes: pipeline, augmentation, sizes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import DataWarning, InputInfo, Mode, option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_detection.inputs.annotations import FolderContent, Part
from tf_frame_detection.inputs.box_faults import box_warnings
from tf_frame_detection.inputs.checks import make_splits
from tf_frame_detection.inputs.detection_input import (
    PADDING,
    UPRIGHT_LABELS,
    DetectionInput,
    SizeOptions,
    check_size,
    make_labels,
)
from tf_frame_detection.inputs.orientation import OrientationOptions
from tf_frame_detection.inputs.photographs import (
    Photographs,
    collect,
    count_beyond,
    divide,
    make_fields,
    without_background,
)
from tf_frame_vision.data_content import SplitContent, count_classes
from tf_frame_vision.example_input import (
    ExampleInput,
    ExampleOptions,
    Split,
    absent_split,
    nothing_held_out,
)
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.reading.folders import HeldOutOptions, existing_folder, naming_unreadable
from tf_frame_vision.reading.splits import check_held_out
from tf_frame_vision.resizing import ResizingOptions

# Format of a folder -> the option that chooses its input.
INPUTS = {
    **dict.fromkeys(look_alikes.YOLO, "--input yolo"),
    look_alikes.LABELME: "--input labelme",
    look_alikes.COCO: "--input coco_json",
    look_alikes.VOC: "--input voc_xml",
    look_alikes.DOTA: "--input dota",
    look_alikes.MASKS: "--plugin deeplab --input segmentation_folder",
}
_NAMED_CHANGES = "the object detection API's names, perhaps with options: NAME:KEY=VALUE:..."


@dataclasses.dataclass(frozen=True)
class AnnotatedOptions(OrientationOptions, SizeOptions, ResizingOptions, ExampleOptions):
    """Options of all inputs of images of any size."""

    image_size: tuple[int, ...] = option(
        (300,),
        "pixels to which images are resized: HEIGHT,WIDTH, or one number for both; empty: as they "
        "are, padded to the largest of a batch",
        min=16,
    )
    keep_aspect_ratio: bool = option(
        False, "images become as large as fits into image_size, and are padded; else stretched"
    )
    preprocess: tuple[str, ...] = option(
        (), f"changes of training images before those of data_augmentation; {_NAMED_CHANGES}"
    )
    data_augmentation: tuple[str, ...] = option(
        ("random_horizontal_flip", "ssd_random_crop"),
        f"random changes of training images, in this order; {_NAMED_CHANGES}",
    )


@dataclasses.dataclass(frozen=True)
class FolderOptions(AnnotatedOptions, HeldOutOptions):
    """Options of inputs of a folder of one's own."""

    data_dir: str = option("", "folder of the data; must be given")


def count_objects(photographs: Photographs, class_names: Sequence[str]) -> dict[str, Any]:
    """Returns the counts of a `SplitContent`; ignored objects, such as crowds, have no label."""
    ignored = photographs.ignored
    counts = count_classes(photographs.classes[~ignored], class_names)
    return {"counts": counts, "without_label": int(ignored.sum())}


class AnnotatedImages(DetectionInput, ExampleInput):
    """Input of images with boxes; a subclass defines `read`, and `find` for the constructor.

    Examples have `image` uint8, `boxes`, `classes`, `ignored`, `crowd`, and with the option
    `rotated` `corners`.
    """

    Params: ClassVar[type] = AnnotatedOptions
    thread_safe_build: ClassVar[bool] = True
    names_examples: ClassVar[bool] = False
    counted_unit: ClassVar[str] = "objects"
    padding: Mapping[str, float] = PADDING

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params)
        check_size(params)
        self.trained = info
        self.rotated = bool(getattr(params, "rotated", False))
        if not self.rotated:
            self.label_names = UPRIGHT_LABELS  # type: ignore[misc]
        self._changes: Sequence[Any] = ()
        if params.preprocess or params.data_augmentation:
            from tf_frame_detection.augmentation.by_name import parse

            self._changes = [
                *parse(params.preprocess, "--input.preprocess"),
                *parse(params.data_augmentation, "--input.data_augmentation"),
            ]
        if info is None:
            with naming_unreadable():
                self.find()

    def find(self) -> None:
        """Finds the data: sets `class_names` and `splits`.

        Raises:
          DataError: it does not exist, or is damaged.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define find()")

    @property
    def num_examples(self) -> Mapping[Mode, int]:
        return {mode: split.count for mode, split in self.splits.items()}

    def prepare(self, example: Any, *, is_training: bool, seed: Any) -> tuple[dict[str, Any], Any]:
        """Returns the features and labels of an image; see `detection_input`."""
        import tensorflow.compat.v1 as tf

        from tf_frame_detection.augmentation import by_name
        from tf_frame_detection.augmentation.labelled import Labelled, cut_to_image

        image = tf.cast(example["image"], tf.float32)
        parts = {name: example[name] for name in ("boxes", "classes", "ignored", "crowd")}
        labelled = Labelled(image, **parts, corners=example.get("corners"))
        if is_training:
            labelled = by_name.apply(labelled, self._changes, seed)
        labelled, inner = self.fit(labelled)
        features = {
            "image": labelled.image,
            "image_size": inner,
            "original_size": tf.shape(example["image"])[:2],
            "name": example["name"],
        }
        if "image_id" in example:
            features["image_id"] = example["image_id"]
        return features, self.padded(make_labels(cut_to_image(labelled), rotated=self.rotated))


class AnnotatedFolder(AnnotatedImages):
    """Input of image files; a subclass defines `read_folder`.

    Attributes:
      formats: the formats of annotations that the input reads; see `formats.look_alikes`.
      what_to_do: sentence of the error of a missing folder.
      root: the data folder.
      remarks: lines about the data that `notes` returns.
    """

    formats: ClassVar[Sequence[str]] = ()
    what_to_do: ClassVar[str]
    root: Path
    remarks: Sequence[str] = ()

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        with naming_look_alikes(params.data_dir, INPUTS, self.formats):
            super().__init__(params=params, info=info)

    @staticmethod
    def read_folder(root: Path, params: Any) -> FolderContent:
        """Reads the data folder, with the options of the input or of the converter of its name.

        Raises:
          DataError: the data does not exist, or is damaged.
        """
        raise NotImplementedError("an input of a folder does not define read_folder()")

    @classmethod
    def read_content(cls, root: Path, params: Any) -> FolderContent:
        """Returns `read_folder` without the background, which is no class of objects."""
        return without_background(root, cls.read_folder(root, params))

    def find(self) -> None:
        self.root = existing_folder(self.params.data_dir, "--input.data_dir", self.what_to_do)
        content = self.read_content(self.root, self.params)
        self.class_ids, self.remarks, self.parts = content.ids, content.notes, content.splits
        if content.evaluation is None:
            check_held_out(self.root, self.params.eval_split)
        names = content.names
        parts: list[Any] = [content.training, content.evaluation]
        # `use` makes other columns of many objects, so these must not be held here.
        del content
        self.use(names, parts.pop(0), parts.pop())

    def use(self, class_names: Sequence[str], training: Part, evaluation: Part | None) -> None:
        """Checks the parts that the subclass has found, and sets the splits.

        Args:
          training: photographs to train on, and lines for records that were left out.
          evaluation: those to evaluate and predict; None: `eval_fraction` of the others.
        """
        absent = absent_split(f"{self.root} has no photograph to evaluate")
        if evaluation is None:
            absent = nothing_held_out(self.params, self.root)
            photographs, problems = training
            kept, held = divide(collect(self.root, photographs), self.params.eval_fraction)
            # Columns of many objects are held once.
            del photographs
            training, evaluation = (kept, problems), (held, ())
        if not any(map(len, training)):
            raise DataError(f"{short(self.root)} has no photograph to train on")
        parts = [training, evaluation] if any(map(len, evaluation)) else [training]
        train, *evaluations = make_splits(self.root, parts, self.params)
        evaluated = evaluations[0] if evaluations else absent
        if not train.content.counts.any():
            raise DataError(f"no photograph of {short(self.root)} to train on has a box")
        self.class_names = class_names
        self.splits = {Mode.TRAIN: train, Mode.EVAL: evaluated, Mode.PREDICT: evaluated}

    def notes(self) -> Sequence[str]:
        """Returns the remarks, and the number of boxes that are cut."""
        splits = {id(split): split for split in self.splits.values() if split.count}.values()
        count = sum(count_beyond(split.content) for split in splits)
        beyond = [f"{count} boxes reach beyond their images and are cut"] if count else []
        return (*super().notes(), *self.remarks, *beyond)

    def content(self, split: Split) -> SplitContent:
        photographs = split.content
        return SplitContent(
            **count_objects(photographs, self.class_names),
            sizes=photographs.sizes,
            root=self.root,
            files=[os.path.join(self.root, path) for path in photographs.paths],
            sources=photographs.sources,
        )

    def data_warnings(self, training: SplitContent) -> Sequence[DataWarning]:
        return tuple(box_warnings(self.splits[Mode.TRAIN].content))

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_vision.reading.image_files import image_file_examples

        names, fields = make_fields(split.content, with_corners=self.rotated)
        return image_file_examples(str(self.root), names, fields, order, self.params)
