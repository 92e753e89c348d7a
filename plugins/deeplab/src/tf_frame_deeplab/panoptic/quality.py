"""Panoptic quality and parsing covering of an image, in NumPy.

Panoptic quality (https://arxiv.org/abs/1801.00868) matches segments of one class whose
intersection over union (IoU) exceeds one half, of which there is at most one for each. What is
said there and in panopticapi/evaluation.py about void and crowds holds: void pixels of a predicted
segment do not count in its union; a predicted segment most of which is void, or a crowd of its
class, is no error; a crowd is neither found nor missed.

Parsing covering (https://arxiv.org/abs/1902.05093) is the mean of the greatest IoU of each true
segment, weighted by its area over that of the image.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Columns of what is counted for each class.
COLUMNS = ("iou", "matched", "spurious", "missed", "covered", "area")
# Number of pixels of instances that nobody told apart.
CROWD = -1
_MATCH = 0.5
# A segment's key is its class times this, and its instance.
_INSTANCES = 2**32


def count_segments(
    true_classes: Any,
    true_instances: Any,
    classes: Any,
    instances: Any,
    *,
    num_classes: int,
) -> Any:
    """Compares an image's prediction with its labels.

    Args:
      true_classes: `[height, width]` integers; a value that is no class is void.
      true_instances: `[height, width]` integers, `CROWD` for a crowd; with the class
        they make a segment.
      classes, instances: the prediction, as above.
      num_classes: number of classes.

    Returns:
      `[num_classes, 6]` float64: sum of the IoU of matches, their number, that of
      predicted segments without a match, of true ones without, covered area, true area.
    """
    true_class, crowd, true_index = _segments(true_classes, true_instances)
    class_, _, index = _segments(classes, instances)
    shared = np.bincount(
        true_index * len(class_) + index, minlength=len(true_class) * len(class_)
    ).reshape(len(true_class), len(class_))
    void = (true_class < 0) | (true_class >= num_classes)
    truth, found = ~void & ~crowd, (class_ >= 0) & (class_ < num_classes)
    same = true_class[:, np.newaxis] == class_
    iou = _iou(shared, void) * (same & truth[:, np.newaxis] & found)
    matches = iou > _MATCH
    excused = shared[void].sum(axis=0) + (shared * (same & crowd[:, np.newaxis])).sum(axis=0)
    spurious = found & ~matches.any(axis=0) & (excused <= _MATCH * shared.sum(axis=0))
    area = shared.sum(axis=1) / true_index.size
    best = iou.max(axis=1)
    counts = np.zeros([num_classes, len(COLUMNS)])
    per_truth = ((iou * matches).sum(axis=1), matches.any(axis=1), ~matches.any(axis=1))
    for column, values in zip((0, 1, 3, 4, 5), (*per_truth, best * area, area), strict=True):
        np.add.at(counts[:, column], true_class[truth], values[truth])
    np.add.at(counts[:, 2], class_[spurious], 1)
    return counts


def qualities(counts: Any) -> dict[str, Any]:
    """Computes the measures from counts, each `[num_classes]`, 0 for a class without segments.

    Args:
      counts: `[num_classes, 6]` of `count_segments`, of one image or added up.

    Returns:
      `pq`, panoptic quality; `sq`, mean IoU of matches; `rq`, F-score of matches;
      `parsing_covering`; and `occurs`, `is_covered`, whether a class counts in the means.
    """
    iou, matched, spurious, missed, covered, area = np.moveaxis(counts, 1, 0)
    size = matched + 0.5 * (spurious + missed)
    return {
        "pq": _divided(iou, size),
        "sq": _divided(iou, matched),
        "rq": _divided(matched, size),
        "parsing_covering": _divided(covered, area),
        "occurs": size > 0,
        "is_covered": area > 0,
    }


def _segments(classes: Any, instances: Any) -> tuple[Any, Any, Any]:
    """Class of each segment, whether it is a crowd, and the segment of each pixel."""
    keys = np.asarray(classes, np.int64) * _INSTANCES + (np.asarray(instances, np.int64) - CROWD)
    segments, index = np.unique(keys.ravel(), return_inverse=True)
    return segments // _INSTANCES, segments % _INSTANCES == 0, index


def _iou(shared: Any, void: Any) -> Any:
    """IoU of each true segment and each predicted one."""
    union = shared.sum(axis=1)[:, np.newaxis] + shared.sum(axis=0) - shared
    union = union - shared[void].sum(axis=0)
    return _divided(shared, union)


def _divided(numerator: Any, denominator: Any) -> Any:
    zero = np.zeros(np.shape(denominator))
    return np.divide(numerator, denominator, out=zero, where=np.asarray(denominator) > 0)
