"""Boxes and detections of an image, as the evaluation collects them, in pixels of its file.

Upright boxes are `[n, 4]`: upper, left, lower and right edge. Rotated ones are `[n, 5]`: row and
column of the centre, height, width and the angle of the width, which is the longer side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Truth(NamedTuple):
    """Boxes of the data set in an image.

    Attributes:
      boxes: `[n, 4]` or `[n, 5]` float64.
      classes: `[n]` integers.
      ignored: `[n]` bool; a detection of such a box is neither right nor wrong.
      crowd: `[n]` bool; an ignored box of any number of objects.
    """

    boxes: Array
    classes: Array
    ignored: Array
    crowd: Array


class Found(NamedTuple):
    """Detections in an image.

    Attributes:
      boxes: `[n, 4]` or `[n, 5]` float64.
      scores: `[n]`.
      classes: `[n]` integers.
    """

    boxes: Array
    scores: Array
    classes: Array


class Image(NamedTuple):
    """An image of the evaluation."""

    truth: Truth
    found: Found

    def select_class(self, label: int) -> Image:
        """Returns the boxes and detections of a class, most certain detections first.

        Detections of the same score stay in their order.
        """
        truth = Truth(*(part[self.truth.classes == label] for part in self.truth))
        detections = Found(*(part[self.found.classes == label] for part in self.found))
        order = np.argsort(-detections.scores, kind="stable")
        return Image(truth, Found(*(part[order] for part in detections)))
