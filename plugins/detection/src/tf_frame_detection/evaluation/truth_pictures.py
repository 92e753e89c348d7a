"""Pictures of examples with the boxes of the data set, for the sheet of training examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf_frame import InputInfo
from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.evaluation.painting import IGNORED, Painting
from tf_frame_vision.drawing.boxes import draw_boxes, upright_corners
from tf_frame_vision.drawing.palette import Pixels
from tf_frame_vision.drawing.sheet import fitted
from tf_frame_vision.drawing.text import with_legend


def truth_pictures(
    features: Mapping[str, Any], labels: Mapping[str, Any], info: InputInfo
) -> list[tuple[Pixels, str]]:
    """Returns the images of a batch with their boxes, in the colours of a legend.

    Args:
      features, labels: see `tf_frame_detection.inputs.detection_input`.
      info: names and colours of the classes.
    """
    painting = Painting.of(info, min_score=0.0)
    boxes = labels.get("rotated_boxes", labels["boxes"])
    parts = zip(features["image"], boxes, labels["classes"], labels["ignored"], strict=True)
    return [(_picture(painting, *part), "") for part in parts]


def _picture(painting: Painting, image: Any, boxes: Any, classes: Any, ignored: Any) -> Pixels:
    is_real = classes >= 0
    boxes, classes, ignored = boxes[is_real], classes[is_real], ignored[is_real]
    corners = upright_corners(boxes) if boxes.shape[1] == 4 else rotated_numpy.corners(boxes)
    colours = [
        IGNORED if is_ignored else painting.colours[label]
        for label, is_ignored in zip(classes, ignored, strict=True)
    ]
    picture = draw_boxes(fitted(image), corners / image.shape[:2], colours)
    entries = {painting.class_names[label]: painting.colours[label] for label in classes[~ignored]}
    if ignored.any():
        entries["ignored"] = IGNORED
    return with_legend(picture, sorted(entries.items()))
