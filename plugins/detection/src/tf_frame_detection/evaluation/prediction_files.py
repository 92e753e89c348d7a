"""Writer of detections, for `tf-frame predict`.

DIR/overlays/NAME.png  the image at its own size with the detections, their classes and scores;
                       small images are enlarged
DIR/detections.json    all detections as COCO's results: a list of `image_id` (that of the data set;
                       else the name of the file without its suffix; where that is a number, the
                       number), `category_id`, `bbox` (left, upper, width, height in pixels of the
                       file) and `score`; rotated ones also with `corners`, four pairs of column
                       and row
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_frame import InputInfo
from tf_frame.atomic_output import write_file
from tf_frame_detection.evaluation.coco import xywh
from tf_frame_detection.evaluation.painting import Painting
from tf_frame_vision.drawing.boxes import enlarged, upright_corners
from tf_frame_vision.drawing.own_picture import file_picture, resized
from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.drawing.png import write_png

# Digits of pixels and scores in files.
_PIXELS, _SCORE = 2, 6
# Detections of an image that are printed.
_MOST_SHOWN = 20
# Says from which score on a detection is drawn and listed.
_OPTION = "--model.min_drawn_score"
# COCO's names have twelve digits; int() refuses thousands.
_DIGITS = 18
_CORNERS = "detection_corners"


class DetectionFiles:
    """Writes an overlay for each example and, at the end, all detections.

    Args:
      info: names, colours and ids of the classes; without ids they are 1, 2 and so on.
      min_score: least score of the detections in overlays.
      rotated: whether boxes are rotated.
    """

    def __init__(
        self, directory: str, info: InputInfo, *, min_score: float, rotated: bool = False
    ) -> None:
        kinds = ("boxes", "scores", "classes", *(["corners"] if rotated else []))
        self.predict_keys: Sequence[str] = (
            "num_detections",
            *(f"detection_{kind}" for kind in kinds),
        )
        self._directory, self._rotated = Path(directory), rotated
        self._ids = info.class_ids or range(1, (info.num_classes or 0) + 1)
        self._painting = Painting.of(info, min_score)
        self._results: list[str] = []
        # Names by their number: 1.jpg and 001.jpg are two images.
        self._numbers: dict[int, str] = {}
        (self._directory / "overlays").mkdir(parents=True, exist_ok=True)

    def __call__(self, name: str, features: Mapping[str, Any], prediction: Any) -> None:
        """Writes the overlay of an example and keeps its detections.

        Args:
          name: name of the files, without the ending.
          features: `image` `[height, width, 3]`, 0 to 255; `image_size` and `original_size`,
            `[2]`; `name`, the path of the file; perhaps `image_id`.
          prediction: those of `predict_keys`, without the batch.
        """
        count = int(prediction["num_detections"])
        boxes, scores, classes = (
            prediction[f"detection_{kind}"][:count] for kind in ("boxes", "scores", "classes")
        )
        corners = prediction[_CORNERS][:count] if self._rotated else upright_corners(boxes)
        drawn = self._painting.draw_found(enlarged(_picture(features)), corners, scores, classes)
        write_png(self._overlay(name), drawn)
        size = features["original_size"].astype(np.float64)
        image_id = self._image_id(features, name)
        pixel_boxes, pixel_corners = boxes * np.tile(size, 2), corners * size
        for box, around, score, label in zip(
            pixel_boxes, pixel_corners, scores, classes, strict=True
        ):
            result = {
                "image_id": image_id,
                "category_id": int(self._ids[int(label)]),
                "bbox": np.round(xywh(box), _PIXELS).tolist(),
                "score": round(float(score), _SCORE),
            }
            if self._rotated:
                result["corners"] = np.round(around[:, ::-1], _PIXELS).tolist()
            self._results.append(json.dumps(result))

    def describe(self, name: str, features: Mapping[str, Any], prediction: Any) -> list[str]:
        """Returns a line for each detection of the overlay, the best first, and the overlay's path.

        Args:
          name, features, prediction: see `__call__`.
        """
        least = self._painting.min_score
        boxes, scores, classes = (
            prediction[f"detection_{kind}"] for kind in ("boxes", "scores", "classes")
        )
        count = int((scores[: int(prediction["num_detections"])] >= least).sum())
        lines = [f"nothing with a score of {least:g} or more ({_OPTION})"] * (not count)
        for box, score, label in zip(boxes[:count], scores, classes, strict=False):
            upper, left, lower, right = box * np.tile(features["original_size"], 2)
            lines.append(
                f"{self._painting.class_names[int(label)]}  {score:.3f}  left {left:.1f}, upper "
                f"{upper:.1f}, right {right:.1f}, lower {lower:.1f}"
            )
        more = [f"and {count - _MOST_SHOWN} more ({_OPTION})"] * (count > _MOST_SHOWN)
        return [*lines[:_MOST_SHOWN], *more, f"drawn in {self._overlay(name)}"]

    def _overlay(self, name: str) -> Path:
        return self._directory / "overlays" / f"{name}.png"

    def close(self) -> None:
        """Writes the detections, also those of a run that was stopped."""
        lines = ",\n".join(self._results)
        write_file(str(self._directory / "detections.json"), f"[\n{lines}\n]\n")

    def _image_id(self, features: Mapping[str, Any], name: str) -> int | str:
        """COCO's id of an image: without annotations its files are named 000000000139.jpg."""
        if "image_id" in features:
            return int(features["image_id"])
        path = Path(os.fsdecode(features["name"])) if "name" in features else Path(name)
        # Of two files of this number in two folders, each has a name of its own.
        if name not in (path.stem, path.name) or not _is_number(path.stem):
            return name
        number = int(path.stem)
        return number if self._numbers.setdefault(number, name) == name else name


def _picture(features: Mapping[str, Any]) -> Pixels:
    """Returns the image at its own size: of its file, or else the network's image, resized."""
    size = tuple(features["original_size"].tolist())
    pixels = file_picture(features["name"]) if "name" in features else None
    if pixels is not None and pixels.shape[:2] == size:
        return pixels
    height, width = features["image_size"]
    return resized(features["image"][:height, :width], size)


def _is_number(stem: str) -> bool:
    return stem.isascii() and stem.isdigit() and len(stem) <= _DIGITS
