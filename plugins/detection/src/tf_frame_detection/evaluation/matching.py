"""Overlaps of the detections of a class with boxes, and their assignment as in COCO and VOC.

COCO: each detection, most certain first, takes the box that it overlaps most of those that are not
taken; an ignored box only where there is no other, and a crowd as often as one likes.
Source: cocoeval.py of pycocotools. VOC: each detection goes to the box that it overlaps most, and
only the first one there is right. Source: VOCevaldet.m of the development kit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tf_frame_detection.boxes import rotated_numpy, upright
from tf_frame_detection.evaluation.images import Array, Image

THRESHOLDS = np.linspace(0.5, 0.95, 10)
MAX_DETECTIONS = 100
_NONE = -1
# Divisor instead of an area of 0; the numerator is 0 then.
_TINY = 1e-30

# From detections [n, 4 or 5], boxes [m, 4 or 5] and crowd [m] to overlaps [n, m].
Overlaps = Callable[[Array, Array, Array], Array]


class Matches(NamedTuple):
    """Judgement of detections of a class, most certain first, at several IoU thresholds.

    Attributes:
      scores: `[n]`.
      right: `[thresholds, n]` bool.
      wrong: `[thresholds, n]` bool; a detection of an ignored box is neither.
      num_boxes: number of boxes that count.
    """

    scores: Array
    right: Array
    wrong: Array
    num_boxes: int


def upright_overlaps(found: Array, boxes: Array, crowd: Array) -> Array:
    """Returns the overlaps of upright boxes.

    With a crowd, a box of any number of objects, an overlap is the share of the detection that
    lies inside.

    Args:
      found: `[n, 4]`.
      boxes: `[m, 4]`.
      crowd: `[m]` bool.

    Returns:
      `[n, m]`; 0 where both areas are 0.
    """
    shares = upright.intersection_over_area(found, boxes, ops=np)
    overlaps: Array = np.where(crowd, shares, upright.iou(found, boxes, ops=np))
    return overlaps


def rotated_overlaps(found: Array, boxes: Array, crowd: Array) -> Array:
    """Returns the overlaps of rotated boxes, `[n, 5]` and `[m, 5]`; otherwise as above."""
    iou = rotated_numpy.iou(found, boxes)
    found_areas, box_areas = (np.prod(some_boxes[:, 2:4], axis=1) for some_boxes in (found, boxes))
    # Of the IoU i = x / (a + b - x) the intersection is x = i (a + b) / (1 + i).
    shared = iou * (found_areas[:, np.newaxis] + box_areas) / (1 + iou)
    shares = shared / np.maximum(found_areas, _TINY)[:, np.newaxis]
    overlaps: Array = np.where(crowd, shares, iou)
    return overlaps


def match_coco(image: Image, overlaps: Overlaps) -> tuple[Matches, Array]:
    """Matches the 100 most certain detections at IoU 0.5, 0.55, ... 0.95.

    Args:
      image: of one class; see `Image.select_class`.
      overlaps: of detections and boxes.

    Returns:
      The judgement, and the number of the box of each detection, `[thresholds, n]`, -1 where
      there is none.
    """
    truth = image.truth
    boxes, scores = image.found.boxes[:MAX_DETECTIONS], image.found.scores[:MAX_DETECTIONS]
    ignored = truth.ignored | truth.crowd
    matches = _greedy(overlaps(boxes, truth.boxes, truth.crowd), ignored, truth.crowd)
    has_box = matches != _NONE
    is_ignored = has_box & np.append(ignored, False)[matches]
    return Matches(scores, has_box & ~is_ignored, ~has_box, int(np.sum(~ignored))), matches


def _greedy(overlaps: Array, ignored: Array, crowd: Array) -> Array:
    """Returns the number of the box of each detection, `[thresholds, n]`, or -1."""
    matches = np.full([len(THRESHOLDS), len(overlaps)], _NONE)
    taken = np.zeros([len(THRESHOLDS), len(ignored)], bool)
    for number in np.flatnonzero((overlaps >= THRESHOLDS[0]).any(axis=1)):
        fits = (overlaps[number] >= THRESHOLDS[:, np.newaxis]) & (crowd | ~taken)
        counts = fits & ~ignored
        fits = np.where(counts.any(axis=1, keepdims=True), counts, fits)
        # Of equal overlaps pycocotools takes the last one.
        backwards = np.where(fits, overlaps[number], -1.0)[:, ::-1]
        best = len(ignored) - 1 - np.argmax(backwards, axis=1)
        rows = np.flatnonzero(fits.any(axis=1))
        matches[rows, number] = best[rows]
        taken[rows, best[rows]] = True
    return matches


def match_voc(image: Image, overlaps: Overlaps) -> Matches:
    """Matches all detections at IoU 0.5.

    Args:
      image: of one class; see `Image.select_class`. Ignored boxes are those that VOC calls
        difficult.
      overlaps: of detections and boxes.
    """
    truth, found = image.truth, image.found
    ignored = truth.ignored | truth.crowd
    right, wrong = np.zeros([2, 1, len(found.scores)], bool)
    taken = np.zeros(len(ignored), bool)
    for number, row in enumerate(overlaps(found.boxes, truth.boxes, truth.crowd)):
        best = int(np.argmax(row)) if len(row) else _NONE
        if best == _NONE or row[best] < THRESHOLDS[0]:
            wrong[0, number] = True
        elif not ignored[best]:
            right[0, number], wrong[0, number] = not taken[best], taken[best]
            taken[best] = True
    return Matches(found.scores, right, wrong, int(np.sum(~ignored)))
