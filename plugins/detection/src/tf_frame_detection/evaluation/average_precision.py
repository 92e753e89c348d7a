"""Average precision (AP) of a class: the mean precision over all recalls.

COCO reads the precision at 101 recalls, VOC 2007 at 11; VOC since 2010 takes the area under the
curve. In each, the precision at a recall is the greatest at this or a higher one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tf_frame_detection.evaluation.images import Array
from tf_frame_detection.evaluation.matching import Matches

COCO_RECALLS = np.linspace(0, 1, 101)
# 3 of 10 boxes must reach the recall 0.3, which `linspace` misses.
VOC07_RECALLS = np.arange(11) / 10
# Like COCO's: the value of a figure without any box that counts.
NO_BOXES = -1.0


def joined(matches: Sequence[Matches]) -> Matches:
    """Joins the detections of several images, most certain first; equal ones in their order."""
    scores = np.concatenate([match.scores for match in matches])
    order = np.argsort(-scores, kind="stable")
    right, wrong = (
        np.concatenate(parts, axis=1)[:, order]
        for parts in ([match.right for match in matches], [match.wrong for match in matches])
    )
    return Matches(scores[order], right, wrong, sum(match.num_boxes for match in matches))


def average_precision(matches: Matches, recalls: Array | None) -> Array:
    """Returns the AP at each IoU threshold.

    Args:
      matches: of all images.
      recalls: where the precision is read; None: the area under the curve.

    Returns:
      `[thresholds]`; -1 if there is no box that counts.
    """
    if not matches.num_boxes:
        return np.full(len(matches.right), NO_BOXES)
    right, wrong = np.cumsum(matches.right, axis=1), np.cumsum(matches.wrong, axis=1)
    recall = right / matches.num_boxes
    precision = right / np.maximum(right + wrong, 1)
    precision = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    if recalls is None:
        area: Array = np.sum(np.diff(recall, axis=1, prepend=0.0) * precision, axis=1)
        return area
    curves = zip(recall, precision, strict=True)
    return np.array([np.mean(_read(*curve, recalls)) for curve in curves])


def _read(recall: Array, precision: Array, recalls: Array) -> Array:
    """The precision at each recall; 0 at those that are not reached."""
    values: Array = np.append(precision, 0.0)[np.searchsorted(recall, recalls, side="left")]
    return values
