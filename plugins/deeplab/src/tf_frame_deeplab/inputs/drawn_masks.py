"""Base class of inputs that draw masks from annotated objects: polygons, run lengths.

Class 0 is the background, the pixels of no object, unless a class of the data has such a name.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame import InputInfo, Mode, option
from tf_frame.errors import DataError
from tf_frame.text import short
from tf_frame_deeplab.heads import EDGE, HEADS, INSTANCES
from tf_frame_deeplab.inputs.drawn_data import (
    INPUTS,
    DrawnData,
    DrawnFormOptions,
    DrawnImage,
    divided,
    usable,
)
from tf_frame_deeplab.inputs.mask_file import count_values
from tf_frame_deeplab.inputs.regions import Canvas, draw
from tf_frame_deeplab.inputs.segmented_images import (
    COMPARED_MASKS,
    SegmentedImageOptions,
    SegmentedImages,
)
from tf_frame_deeplab.inputs.semantic_input import count_pixels
from tf_frame_vision.data_content import SplitContent
from tf_frame_vision.example_input import Split, absent_split
from tf_frame_vision.formats.look_alikes import naming_look_alikes
from tf_frame_vision.reading.damage import check_damage
from tf_frame_vision.reading.folders import HeldOutOptions, existing_folder
from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.orientation import turned_size
from tf_frame_vision.reading.splits import check_held_out

# Masks that are drawn to count their pixels before a run starts.
_COUNTED = 100


@dataclasses.dataclass(frozen=True)
class DrawnOptions(DrawnFormOptions, HeldOutOptions, SegmentedImageOptions):
    """Options of all inputs that draw masks."""

    data_dir: str = option("", "folder of the images and annotations; must be given")
    instances: bool = option(
        False, "also yield instances, heat maps of their centres, offsets to the centres, and edges"
    )
    center_sigma: float = option(
        4.0, "standard deviation of a centre's Gaussian in the heat map, in pixels", min=0.5
    )


@dataclasses.dataclass(frozen=True)
class _Content:
    """Images of a split that can be used, and the canvas of each."""

    images: Sequence[DrawnImage]
    canvases: Sequence[Canvas]


class DrawnMasks(SegmentedImages):
    """Input of images with drawn masks; a subclass defines `read_folder`.

    Attributes:
      what_to_do: sentence of the error of a missing folder.
      formats: the formats that the input reads; see `formats.look_alikes`.
    """

    Params: ClassVar[type] = DrawnOptions
    label_names: ClassVar[Sequence[str]] = (*HEADS, INSTANCES)
    what_to_do: ClassVar[str]
    formats: ClassVar[Sequence[str]]

    def __init__(self, *, params: Any, info: InputInfo | None = None) -> None:
        super().__init__(params=params, info=info)
        if params.instances:
            self.label_names = (*HEADS, INSTANCES)  # type: ignore[misc]
            self.padding = {**(self.padding or {}), EDGE: params.ignore_label}
        elif params.edges:
            self.label_names = SegmentedImages.label_names  # type: ignore[misc]

    @staticmethod
    def read_folder(root: Path, params: Any) -> DrawnData:
        """Reads the data folder, with the options of the input or of the converter of its name.

        Raises:
          DataError: the data does not exist, or is damaged.
        """
        raise NotImplementedError("an input of drawn masks does not define read_folder()")

    def find(self) -> None:
        params = self.params
        self.root = existing_folder(params.data_dir, "--input.data_dir", self.what_to_do)
        with naming_look_alikes(params.data_dir, INPUTS, self.formats):
            data = self.read_folder(self.root, params)
        self._data, self.parts = data, data.splits
        if data.evaluation is None:
            check_held_out(self.root, params.eval_split)
        training, evaluation = divided(self.root, data, params.eval_fraction)
        absent = (
            f"{self.root} has no image to evaluate, and --input.eval_fraction "
            f"{params.eval_fraction} leaves none"
        )
        evaluated = self._split(evaluation, ()) if evaluation else absent_split(absent)
        self.use(data.names, self._split(training, data.errors), evaluated)

    def notes(self) -> Sequence[str]:
        """Returns remarks about the data."""
        return () if self.trained is not None else (*super().notes(), *self._data.notes)

    def _split(self, images: Sequence[DrawnImage], errors: Sequence[str]) -> Split:
        params = self.params
        usable_images, canvases, damaged = usable(self.root, self._data, images, params)
        check_damage([*errors, *damaged], skip_corrupt=params.skip_corrupt)
        if not usable_images:
            raise DataError(f"{short(self.root)} has no image to use")
        content = _Content(usable_images, canvases)
        return Split(len(usable_images), content, [*errors, *damaged])

    def content(self, split: Split) -> SplitContent:
        images, canvases = split.content.images, split.content.canvases
        counted = range(0, len(images), -(-len(images) // _COUNTED))
        masks = (self._draw(split.content, index)[..., 0] for index in counted)
        return SplitContent(
            **count_pixels(map(count_values, masks), self.class_names, self.params.ignore_label),
            counted=len(counted) if len(counted) < len(images) else None,
            sizes=[turned_size(one.height, one.width, one.orientation) for one in canvases],
            root=self.root,
            files=[str(image.path) for image in images],
            sources=[image.source for image in images],
        )

    def some_masks(self, content: SplitContent) -> Iterable[Hashable]:
        images = self.splits[Mode.TRAIN].content
        for index in range(0, len(images.images), -(-len(images.images) // COMPARED_MASKS)):
            mask = self._draw(images, index)[..., 0]
            yield mask.shape, mask.tobytes()

    def read(self, split: Split, order: Any) -> Any:
        from tf_frame_deeplab.inputs.drawn_examples import drawn_examples

        images = split.content.images
        names = [path_below(self.root, image.path) for image in images]
        sources = [image.source for image in images]
        drawn = functools.partial(self._draw, split.content)
        return drawn_examples(str(self.root), names, sources, drawn, order, self.params)

    def _draw(self, content: _Content, index: int) -> Any:
        """Draws the mask of an image, `[height, width, 2]`: classes, and instances."""
        canvas, params = content.canvases[index], self.params
        regions = self._data.regions(content.images[index].place, (canvas.height, canvas.width))
        return draw(regions, canvas, ignore_label=params.ignore_label, overlap=params.overlap)

    def labels(self, masks: Any) -> dict[str, Any]:
        """Returns the labels of `panoptic.targets.Targets` as well, with the option `instances`."""
        labels = super().labels(masks)
        if not self.params.instances:
            return labels
        import tensorflow.compat.v1 as tf

        from tf_frame_deeplab.panoptic.targets import Targets

        counts = tf.not_equal(labels["semantic"], self.params.ignore_label)
        instances = tf.where(counts, masks[..., 1], tf.zeros_like(masks[..., 1]))
        targets = Targets(
            center_sigma=self.params.center_sigma,
            edge_width=self.params.edge_width,
            ignore_label=self.params.ignore_label,
        )
        return {**labels, **targets(instances, counts)}
