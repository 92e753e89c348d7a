"""The input `coco_masks`: images, and COCO's JSON files, with objects that are drawn as masks.

An object is one polygon or several, or lengths of runs (RLE), compressed or not. Where objects
overlap, the later one is seen, as in COCO's own conversion (nightrome/cocostuffapi,
`cocoSegmentationToSegmentationMap`). Pixels of a crowd do not count, unless an object is there.
Layouts: `tf_frame_vision.formats.coco_layout`. Format: https://cocodataset.org/#format-data.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_frame.errors import DataError
from tf_frame_deeplab.inputs.drawn_data import DrawnData, DrawnImage, Size, with_background
from tf_frame_deeplab.inputs.drawn_masks import DrawnMasks, DrawnOptions
from tf_frame_deeplab.inputs.regions import Region
from tf_frame_deeplab.inputs.run_lengths import parse_polygons, parse_runs
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.coco_data import CocoPart, read_coco
from tf_frame_vision.formats.coco_layout import CocoOptions
from tf_frame_vision.formats.record_fields import RecordError


@dataclasses.dataclass(frozen=True)
class Params(CocoOptions, DrawnOptions):
    """Options of the input."""


def read_coco_masks(root: Path, params: Any) -> DrawnData:
    """Reads the JSON files of a folder.

    Raises:
      DataError: a file is missing or broken, both have other categories, or nothing can be drawn.
    """
    data = read_coco(root, params, _parse_outline, kind="masks")
    if not any(len(part.classes) for part in data.parts):
        raise DataError(
            f"no annotation of {data.parts[0].content.path} has a segmentation, so there is "
            "nothing to draw; boxes are for --plugin detection --input coco_json"
        )
    names, numbers = with_background(data.names)

    def regions(place: tuple[int, int], size: Size) -> list[Region]:
        part, image = place
        return _regions(data.parts[part], image, numbers)

    parts = [_images(root, number, part) for number, part in enumerate(data.parts)]
    return DrawnData(
        names,
        parts[0],
        parts[1] if len(parts) > 1 else None,
        regions,
        data.notes,
        [line for part in data.parts for line in part.content.damaged],
        record_word="annotation",
        splits=data.splits,
    )


class CocoMasks(DrawnMasks):
    """Images, and objects of COCO's JSON files."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.COCO,)
    what_to_do = "Give --input.data_dir the folder of the images and JSON files"
    read_folder = staticmethod(read_coco_masks)


def _parse_outline(annotation: Mapping[str, Any]) -> Any:
    """Returns the box around an object, its polygons and runs, and the size of its runs."""
    segmentation = annotation.get("segmentation")
    if not segmentation:
        raise RecordError("it has no segmentation; leave it out, or draw its outline")
    try:
        if isinstance(segmentation, dict):
            runs, (height, width) = parse_runs(segmentation)
            return (0, 0, height, width), json.dumps([(), runs]).encode(), (height, width)
        polygons = parse_polygons(segmentation)
    except ValueError as error:
        raise RecordError(str(error)) from None
    xs = [x for polygon in polygons for x in polygon[::2]]
    ys = [y for polygon in polygons for y in polygon[1::2]]
    if not all(map(math.isfinite, (*xs, *ys))):
        raise RecordError("its segmentation has a number that is not finite")
    edges = min(ys), min(xs), max(ys), max(xs)
    return edges, json.dumps([polygons, ()]).encode(), (0, 0)


def _images(root: Path, number: int, part: CocoPart) -> list[DrawnImage]:
    """Returns the images of a JSON file; their places begin with the number of the file."""
    content, images = part.content, []
    for image, (path, size) in enumerate(zip(part.paths, content.sizes.tolist(), strict=True)):
        objects = slice(*content.ends[image : image + 2].tolist())
        images.append(
            DrawnImage(
                root / path,
                str(content.path),
                (number, image),
                (size[0], size[1]) if size[0] else None,
                [content.problems[image]] if image in content.problems else (),
                boxes=content.boxes[objects],
                records=content.records[objects],
            )
        )
    return images


def _regions(part: CocoPart, image: int, numbers: Sequence[int]) -> list[Region]:
    content, regions = part.content, []
    objects = range(*content.ends[image : image + 2].tolist())
    for instance, row in enumerate(objects, 1):
        begin, end = content.places[row].tolist()
        polygons, runs = json.loads(content.data[begin:end].tobytes())
        number = None if content.crowd[row] else numbers[part.classes[row]]
        regions.append(Region(number, instance if number else 0, polygons, runs))
    return regions
