"""Pictures of boxes and detections in the colours of their classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_frame import InputInfo
from tf_frame_detection.evaluation.images import Array
from tf_frame_vision.drawing.boxes import draw_boxes
from tf_frame_vision.drawing.palette import Pixels, palette

IGNORED = (150, 150, 150)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Painting:
    """Names and colours of the classes, and the least score that is drawn.

    Attributes:
      class_names: a name for each class.
      colours: red, green and blue of each class.
      min_score: detections with a lower score are left out.
    """

    class_names: Sequence[str]
    colours: Sequence[Any]
    min_score: float

    @classmethod
    def of(cls, info: InputInfo, min_score: float) -> Painting:
        """Returns that of a data set.

        Args:
          info: names and colours of the classes.
          min_score: detections with a lower score are left out.
        """
        number = info.num_classes or 0
        names = [*info.class_names[:number], *map(str, range(len(info.class_names), number))]
        colours = list(info.class_colours) or list(palette(number, background=False))
        return cls(class_names=names, colours=colours, min_score=min_score)

    def draw_truth(self, picture: Pixels, corners: Array, classes: Array, ignored: Array) -> Pixels:
        """Draws boxes of the data set with their names; those that are ignored are grey.

        Args:
          picture: `[height, width, 3]`.
          corners: `[n, 4, 2]`, as shares of height and width.
          classes: `[n]`, -1 for padding.
          ignored: `[n]` bool.
        """
        is_real = classes >= 0
        classes, ignored = classes[is_real], ignored[is_real]
        colours = [
            IGNORED if is_ignored else self.colours[label]
            for label, is_ignored in zip(classes, ignored, strict=True)
        ]
        captions = [self.class_names[label] for label in classes]
        return draw_boxes(picture, corners[is_real], colours, captions)

    def draw_found(self, picture: Pixels, corners: Array, scores: Array, classes: Array) -> Pixels:
        """Draws detections with names and scores, the most certain ones above the others.

        Args:
          picture: `[height, width, 3]`.
          corners: `[n, 4, 2]`, as shares of height and width.
          scores: `[n]`; 0 for padding.
          classes: `[n]`.
        """
        order = np.argsort(scores, kind="stable")
        order = order[(scores[order] >= self.min_score) & (scores[order] > 0)]
        classes, scores = classes[order].astype(int), scores[order]
        captions = [
            f"{self.class_names[label]} {score:.2f}"
            for label, score in zip(classes, scores, strict=True)
        ]
        colours = [self.colours[label] for label in classes]
        return draw_boxes(picture, corners[order], colours, captions)
