"""Source of the converters that draw masks: the data that the inputs of these names read."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.text import printable
from tf_frame_deeplab.convert.source import (
    MaskedPicture,
    Meaning,
    Source,
    name_below,
    numbers,
)
from tf_frame_deeplab.inputs.drawn_data import DrawnData, DrawnImage, divided, usable
from tf_frame_deeplab.inputs.drawn_masks import DrawnMasks
from tf_frame_deeplab.inputs.mask_file import Pair
from tf_frame_deeplab.inputs.regions import Canvas, draw
from tf_frame_vision.convert.options import TestOptions, without_prefix
from tf_frame_vision.reading.damage import check_damage


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnPicture(MaskedPicture):
    """An image with a mask that is drawn; its pair has the file of the objects.

    Attributes:
      draw: returns the classes of the pixels, `[height, width]`.
    """

    draw: Callable[[], Any]


def read_drawn(root: Path, source: type[DrawnMasks], params: Any) -> Source:
    """Lists the pictures of `train`, and of `val` and `test` if there are any.

    Args:
      root: the data folder.
      source: the input of the data.
      params: the options of the converter.

    Raises:
      DataError: the data cannot be used.
    """
    try:
        data = source.read_folder(root, params)
        for note in (*data.splits.notes(uses_test=True), *data.notes):
            print(printable(note), file=sys.stderr, flush=True)
        training, evaluation = divided(root, data, params.eval_fraction)
        pictures = {"train": _pictures(root, data, training, data.errors, params)}
        if evaluation:
            pictures["val"] = _pictures(root, data, evaluation, (), params)
        if data.splits.test:
            tested = source.read_folder(root, TestOptions(params))
            pictures["test"] = _pictures(root, tested, tested.evaluation or (), (), params)
    except DataError as error:
        raise without_prefix(error) from None
    return Source(pictures, data.names, params.ignore_label)


def _pictures(
    root: Path, data: DrawnData, images: Sequence[DrawnImage], errors: Sequence[str], params: Any
) -> list[MaskedPicture]:
    usable_images, canvases, damaged = usable(root, data, images, params)
    check_damage([*errors, *damaged], skip_corrupt=params.skip_corrupt)
    for line in (*errors, *damaged):
        print(printable(f"left out: {line}"), file=sys.stderr, flush=True)
    label = params.ignore_label
    meaning = Meaning(numbers(len(data.names), label))

    def picture(image: DrawnImage, canvas: Canvas) -> DrawnPicture:
        def classes() -> Any:
            regions = data.regions(image.place, (canvas.height, canvas.width))
            return draw(regions, canvas, ignore_label=label, overlap=params.overlap)[..., 0]

        source = Path(image.source)
        file = source if source.exists() else image.path
        return DrawnPicture(Pair(name_below(root, image.path), image.path, file), meaning, classes)

    return [picture(image, canvas) for image, canvas in zip(usable_images, canvases, strict=True)]
