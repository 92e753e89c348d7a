"""Figures of an evaluation: average precision of all classes and of each.

    ap          mean over the classes of the AP at IoU 0.5, 0.55, ... 0.95
    ap50        the same at IoU 0.5
    ap75 ...    upright boxes, with pycocotools: the other ten of `coco.COCO_FIGURES`
    voc_ap      if asked for: VOC's AP since 2010, with IoU 0.5
    voc07_ap    if asked for: that of 2007
    angle_error rotated boxes: median error, in degrees, of the angles of detections that are right
                at IoU 0.5, of boxes at least 1.5 times as long as wide; 90 if there are none
    ap50_CLASS, ap_CLASS, boxes_CLASS  of each class; `boxes` is the number of boxes that count

Figures of a class without boxes are NaN, where COCO has -1; means leave such classes out.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tf_frame import ClassMean, ClassMetric
from tf_frame_detection.evaluation.coco import COCO_FIGURES, coco_figures, has_pycocotools
from tf_frame_detection.evaluation.images import Array, Image
from tf_frame_detection.evaluation.matching import (
    THRESHOLDS,
    Matches,
    match_coco,
    match_voc,
    rotated_overlaps,
    upright_overlaps,
)

# COCO reads the precision at 101 recalls, VOC 2007 at 11; VOC since 2010 takes the area under the
# curve. The precision at a recall is the greatest at this or a higher recall.
COCO_RECALLS = np.linspace(0, 1, 101)
# 3 of 10 boxes must reach the recall 0.3, which `linspace` misses.
VOC07_RECALLS = np.arange(11) / 10
_NO_ANGLE = 90.0
# Boxes at least so many times as long as wide have an angle that counts.
_LONG = 1.5
_NO_DETECTIONS = np.zeros([len(THRESHOLDS), 0], bool)
_NOTHING = Matches(np.zeros(0), _NO_DETECTIONS, _NO_DETECTIONS, 0)


class _ClassResult(NamedTuple):
    ap: Array
    voc: float
    voc07: float
    num_boxes: int
    angle_errors: Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of one evaluation.

    Attributes:
      class_names: names of all classes, fit for metrics.
      rotated: whether boxes are rotated.
      voc: whether VOC's AP is computed.
    """

    class_names: Sequence[str]
    rotated: bool = False
    voc: bool = False

    def names(self) -> list[str]:
        """Names of the figures, in the order of `compute`."""
        return list(self.compute([]))

    def compute(self, images: Sequence[Image]) -> dict[str, float]:
        """Computes the figures.

        Args:
          images: all images of the evaluation.
        """
        with_class = _with_class(images)
        labels = range(len(self.class_names))
        results = [self._class_result(with_class[label]) for label in labels]
        figures: dict[str, float] = {
            ClassMean("ap", "ap"): _mean([float(np.mean(each.ap)) for each in results]),
            ClassMean("ap50", "ap50"): _mean([each.ap[0] for each in results]),
        }
        if self.rotated:
            errors = np.concatenate([each.angle_errors for each in results])
            figures["angle_error"] = float(np.median(errors)) if len(errors) else _NO_ANGLE
        elif has_pycocotools():
            coco = coco_figures(images, len(labels))
            figures |= {ClassMean(name): coco[name] for name in COCO_FIGURES if name not in figures}
        if self.voc:
            figures[ClassMean("voc_ap", "ap")] = _mean([each.voc for each in results])
            figures[ClassMean("voc07_ap", "ap")] = _mean([each.voc07 for each in results])
        for name, result in zip(self.class_names, results, strict=True):
            figures[ClassMetric("ap50", name)] = float(result.ap[0])
            figures[ClassMetric("ap", name)] = float(np.mean(result.ap))
            figures[ClassMetric("boxes", name)] = float(result.num_boxes or np.nan)
        return figures

    def _class_result(self, images: Sequence[Image]) -> _ClassResult:
        overlaps = rotated_overlaps if self.rotated else upright_overlaps
        matched = [match_coco(image, overlaps) for image in images]
        coco = join_matches([_NOTHING, *(each for each, _ in matched)])
        voc = join_matches(
            [match_voc(image, overlaps) for image in images if self.voc] or [_NOTHING]
        )
        return _ClassResult(
            ap=average_precision(coco, COCO_RECALLS),
            voc=float(average_precision(voc, None)[0]),
            voc07=float(average_precision(voc, VOC07_RECALLS)[0]),
            num_boxes=coco.num_boxes,
            angle_errors=self._angle_errors(images, matched),
        )

    def _angle_errors(
        self, images: Sequence[Image], matched: Sequence[tuple[Matches, Array]]
    ) -> Array:
        errors = [np.zeros(0)]
        for image, (matches, boxes) in zip(images, matched, strict=True):
            right = np.flatnonzero(matches.right[0])
            if self.rotated:
                of = image.truth.boxes[boxes[0, right]]
                errors.append(angle_errors(image.found.boxes[right], of))
        return np.concatenate(errors)


def _with_class(images: Sequence[Image]) -> Mapping[int, list[Image]]:
    """Returns the images with boxes or detections of each class."""
    chosen = defaultdict(list)
    for image in images:
        for label in np.union1d(image.truth.classes, image.found.classes):
            chosen[int(label)].append(image.select_class(label))
    return chosen


def angle_errors(found: Array, boxes: Array) -> Array:
    """Returns the errors of the angles of detections, in degrees, 0 to 90.

    Args:
      found: `[n, 5]`.
      boxes: `[n, 5]`: the box of each; those less than 1.5 times as long as wide are left out.
    """
    is_long = boxes[:, 3] >= _LONG * boxes[:, 2]
    turned = np.degrees(found[is_long, 4] - boxes[is_long, 4]) % 180
    errors: Array = np.minimum(turned, 180 - turned)
    return errors


def join_matches(matches: Sequence[Matches]) -> Matches:
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
      `[thresholds]`; NaN if there is no box that counts.
    """
    if not matches.num_boxes:
        return np.full(len(matches.right), np.nan)
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
    """Returns the precision at each recall; 0 at recalls that are not reached."""
    values: Array = np.append(precision, 0.0)[np.searchsorted(recall, recalls, side="left")]
    return values


def _mean(values: Sequence[float]) -> float:
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else np.nan
