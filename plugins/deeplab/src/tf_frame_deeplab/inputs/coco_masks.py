"""The input `coco_masks`: images, and COCO's JSON files, with objects that are drawn as masks.

An object is one polygon or several, or lengths of runs (RLE), compressed or not. Where objects
overlap, the later one is seen, as in COCO's own conversion (nightrome/cocostuffapi,
`cocoSegmentationToSegmentationMap`). Pixels of a crowd do not count, unless an object is there.
Layouts: `tf_frame_vision.formats.coco_layout`. Format: https://cocodataset.org/#format-data.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import ClassVar

from tf_frame_deeplab.inputs.coco_regions import read_coco_masks
from tf_frame_deeplab.inputs.drawn_data import DrawnData
from tf_frame_deeplab.inputs.drawn_masks import DrawnMasks, DrawnOptions
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.coco_layout import CocoOptions


@dataclasses.dataclass(frozen=True)
class Params(CocoOptions, DrawnOptions):
    """Options of the input."""


class CocoMasks(DrawnMasks):
    """Images, and objects of COCO's JSON files."""

    Params: ClassVar[type] = Params
    formats = (look_alikes.COCO,)
    what_to_do = "Give --input.data_dir the folder of the images and JSON files"

    def read_data(self, root: Path) -> DrawnData:
        params = self.params
        return read_coco_masks(
            root, params, eval_split=params.eval_split, outside=params.allow_outside
        )
