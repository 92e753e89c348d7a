"""Images with objects to draw as masks, which readers of formats find; checks of both.

Does not import TensorFlow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame import option
from tf_frame_deeplab.inputs.regions import LATER, SMALLER, Canvas, Region
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.reading.class_names import is_background
from tf_frame_vision.reading.damage import Damage
from tf_frame_vision.reading.folders import divide_names
from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.inside import path_below
from tf_frame_vision.reading.orientation import turned_size
from tf_frame_vision.reading.scan import Problem
from tf_frame_vision.reading.splits import Splits

# Format of a folder -> the options that choose its input.
INPUTS = {
    look_alikes.COCO: "--input coco_masks",
    look_alikes.LABELME: "--input labelme_masks",
    look_alikes.SEGMENTS: "--input yolo_masks",
    look_alikes.OBB: "--input yolo_masks",
    look_alikes.BOXES: "--plugin detection --input yolo",
    look_alikes.VOC: "--plugin detection --input voc_xml",
    look_alikes.DOTA: "--plugin detection --input dota",
    look_alikes.MASKS: "--input segmentation_folder",
}
_BACKGROUND = "background"
_SHOWN, _STORED = "shown", "stored"
Size = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class DrawnFormOptions:
    """Options of inputs and converters that draw masks."""

    overlap: str = option(
        LATER,
        "the object that is seen where two overlap: later, the one that comes later in its file; "
        "or smaller",
        choices=(LATER, SMALLER),
    )
    masks_on: str = option(
        "",
        "the picture that objects are drawn on where EXIF turns an image and its annotation has "
        "the stored size: shown, or stored; empty: such images are errors",
        choices=("", _SHOWN, _STORED),
    )


@dataclasses.dataclass(frozen=True)
class YoloOverlapOptions:
    """Option of YOLO's polygons, with the rule of Ultralytics."""

    overlap: str = option(
        SMALLER,
        "the object that is seen where two overlap: smaller; or later, the one that comes later in "
        "its file",
        choices=(SMALLER, LATER),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnImage:
    """An image and the place of its objects.

    Attributes:
      path: the image.
      source: the file of its objects, for messages.
      place: argument of `DrawnData.regions`.
      size: height and width that the annotation says; None: it says none.
      problems: objects that cannot be used, such as `line 3: its class ...`; one of them takes the
        image out.
      error: why the annotation cannot be read; empty: it can.
      boxes: `[objects, 4]`, upper, left, lower and right edge of each other object.
      records: place of each in the file, such as 3.
    """

    path: Path
    source: str
    place: Any
    size: Size | None = None
    problems: Sequence[str] = ()
    error: str = ""
    boxes: Any = ()
    records: Sequence[Any] = ()


@dataclasses.dataclass(frozen=True)
class DrawnData:
    """Images and their objects.

    Attributes:
      names: the classes, with the background.
      training, evaluation: the images; None: `eval_fraction` of the others.
      regions: from the place of an image, and height and width of its canvas, to its objects;
        called when the image is read, in threads.
      notes: remarks for people, a line each.
      errors: parts of the data that belong to no image and cannot be used, a line each.
      record_word: such as `annotation`, before `DrawnImage.records`.
      in_shares: whether boxes are shares of height and width.
      splits: the parts by their names.
    """

    names: Sequence[str]
    training: Sequence[DrawnImage]
    evaluation: Sequence[DrawnImage] | None
    regions: Callable[[Any, Size], Sequence[Region]]
    notes: Sequence[str] = ()
    errors: Sequence[str] = ()
    record_word: str = "line"
    in_shares: bool = False
    splits: Splits = dataclasses.field(default_factory=Splits)


def usable(
    root: Path, data: DrawnData, images: Sequence[DrawnImage], params: Any
) -> tuple[list[DrawnImage], list[Canvas], list[Damage]]:
    """Returns the images that can be used, the canvas of each, and a line for each other image.

    Only the headers of images are read.

    Args:
      root: the data folder.
      data: the data set that has the images.
      images: the images.
      params: options `masks_on` and `max_pixels`.
    """
    names = [path_below(root, image.path) for image in images]
    headers = scan_headers(root, names, max_pixels=params.max_pixels)
    kept, canvases, damaged = [], [], []
    for image, header in zip(images, headers, strict=True):
        canvas = _canvas(image, header, params.masks_on)
        if isinstance(canvas, Canvas):
            canvas = _outside(image, canvas, data) or canvas
        if isinstance(canvas, Damage):
            damaged.append(canvas)
        else:
            kept.append(image)
            canvases.append(canvas)
    return kept, canvases, damaged


def _canvas(image: DrawnImage, header: Any, masks_on: str) -> Canvas | Damage:
    if image.error:
        return Damage(image.source, image.error)
    if image.problems:
        place, _, clause = image.problems[0].partition(": ")
        return Damage(f"{image.source}, {place}", clause)
    if isinstance(header, Problem):
        return Damage(f"{image.path}, of {image.source}", header.reason)
    height, width, orientation = header
    shown = turned_size(height, width, orientation)
    if image.size in (None, shown):
        return Canvas(*shown)
    place = f"{image.source} says that {image.path} is {image.size[0]} x {image.size[1]} pixels"
    if image.size != (height, width):
        return Damage(place, f"it is {shown[0]} x {shown[1]}", "the annotation has another size")
    if not masks_on:
        return Damage(
            place,
            f"its pixels are stored so, and shown as {shown[0]} x {shown[1]}; say on which picture "
            "the objects are drawn: --input.masks_on shown or stored",
            "the annotation has the size of the stored pixels",
        )
    return Canvas(*shown) if masks_on == _SHOWN else Canvas(height, width, orientation)


def _outside(image: DrawnImage, canvas: Canvas, data: DrawnData) -> Damage | None:
    """Returns the line of an image with an object that nobody would see."""
    height, width = canvas.height, canvas.width
    scale = (height, width, height, width) if data.in_shares else (1, 1, 1, 1)
    boxes = np.multiply(np.reshape(image.boxes, [-1, 4]), scale).tolist()
    for record, (upper, left, lower, right) in zip(image.records, boxes, strict=True):
        fault = ""
        if lower <= upper or right <= left:
            fault = "encloses nothing"
        elif not (0 <= upper + lower <= 2 * height and 0 <= left + right <= 2 * width):
            fault = f"lies outside of the image of {height} x {width} pixels"
        if fault:
            text = f"its outline, rows {upper:g} to {lower:g} and columns {left:g} to {right:g},"
            return Damage(f"{image.source}, {data.record_word} {record}", f"{text} {fault}")
    return None


def divided(
    root: Path, data: DrawnData, fraction: float
) -> tuple[Sequence[DrawnImage], Sequence[DrawnImage]]:
    """Returns the images to train on and those to evaluate, perhaps held out by their names."""
    if data.evaluation is not None:
        return data.training, data.evaluation
    names = [path_below(root, image.path) for image in data.training]
    division = divide_names(names, fraction)
    pairs = list(zip(names, data.training, strict=True))
    training, evaluation = ([image for name, image in pairs if name in part] for part in division)
    return training, evaluation


def with_background(names: Sequence[str]) -> tuple[list[str], list[int]]:
    """Returns the classes with the background as class 0, and the number of each given class."""
    background = next(filter(is_background, names), _BACKGROUND)
    others = [name for name in names if not is_background(name)]
    numbers = {name: number for number, name in enumerate(others, 1)}
    return [background, *others], [numbers.get(name, 0) for name in names]
