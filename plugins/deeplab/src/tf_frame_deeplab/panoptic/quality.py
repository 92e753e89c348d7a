"""Panoptic quality and parsing covering of an image, in NumPy.

Panoptic quality (https://arxiv.org/abs/1801.00868) matches segments of one class with an
intersection over union (IoU) above one half; each segment has at most one such partner. Void and
crowds follow the paper and panopticapi/evaluation.py: void pixels of a predicted segment do not
count in its union; a predicted segment is no error if most of it is void, or a crowd of its class;
a crowd is neither found nor missed.

Parsing covering (https://arxiv.org/abs/1902.05093) is the mean of the greatest IoU of each true
segment, weighted by its share of the image's area.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Columns of the counts of each class.
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
      true_classes: `[height, width]` integers; values outside of the classes are void.
      true_instances: `[height, width]` integers, `CROWD` for a crowd; class and instance
        identify a segment.
      classes, instances: the prediction, as above.
      num_classes: number of classes.

    Returns:
      `[num_classes, 6]` float64: sum of the IoU of matches, number of matches, of predicted
      segments without a match, of true segments without a match, covered area, true area.
    """
    true_class, crowd, true_index = _segments(true_classes, true_instances)
    class_, _, index = _segments(classes, instances)
    shared = np.bincount(
        true_index * len(class_) + index, minlength=len(true_class) * len(class_)
    ).reshape(len(true_class), len(class_))
    void = (true_class < 0) | (true_class >= num_classes)
    truth, predicted = ~void & ~crowd, (class_ >= 0) & (class_ < num_classes)
    same = true_class[:, np.newaxis] == class_
    iou = _iou(shared, void) * (same & truth[:, np.newaxis] & predicted)
    matches = iou > _MATCH
    excused = shared[void].sum(axis=0) + (shared * (same & crowd[:, np.newaxis])).sum(axis=0)
    spurious = predicted & ~matches.any(axis=0) & (excused <= _MATCH * shared.sum(axis=0))
    area = shared.sum(axis=1) / true_index.size
    best = iou.max(axis=1)
    counts = np.zeros([num_classes, len(COLUMNS)])
    per_truth = ((iou * matches).sum(axis=1), matches.any(axis=1), ~matches.any(axis=1))
    for column, values in zip((0, 1, 3, 4, 5), (*per_truth, best * area, area), strict=True):
        np.add.at(counts[:, column], true_class[truth], values[truth])
    np.add.at(counts[:, 2], class_[spurious], 1)
    return counts


def qualities(counts: Any) -> dict[str, Any]:
    """Computes the measures from counts, each `[num_classes]`.

    A class without segments has NaN.

    Args:
      counts: `[num_classes, 6]` of `count_segments`, of one image or added up.

    Returns:
      `pq`, panoptic quality; `sq`, mean IoU of matches; `rq`, F-score of matches;
      `parsing_covering`.
    """
    iou, matched, spurious, missed, covered, area = np.moveaxis(counts, 1, 0)
    size = matched + 0.5 * (spurious + missed)
    return {
        "pq": _divided(iou, size, np.nan),
        "sq": np.where(size > 0, _divided(iou, matched), np.nan),
        "rq": _divided(matched, size, np.nan),
        "parsing_covering": _divided(covered, area, np.nan),
    }


def _segments(classes: Any, instances: Any) -> tuple[Any, Any, Any]:
    """Returns class of each segment, True for a crowd, and the segment of each pixel."""
    keys = np.asarray(classes, np.int64) * _INSTANCES + (np.asarray(instances, np.int64) - CROWD)
    segments, index = np.unique(keys.ravel(), return_inverse=True)
    return segments // _INSTANCES, segments % _INSTANCES == 0, index


def _iou(shared: Any, void: Any) -> Any:
    """Returns the IoU of each true segment and each predicted segment."""
    union = shared.sum(axis=1)[:, np.newaxis] + shared.sum(axis=0) - shared
    union = union - shared[void].sum(axis=0)
    return _divided(shared, union)


def _divided(numerator: Any, denominator: Any, otherwise: float = 0.0) -> Any:
    """Divides; `otherwise` is the result where the denominator is 0."""
    result = np.full(np.shape(denominator), otherwise)
    return np.divide(numerator, denominator, out=result, where=np.asarray(denominator) > 0)
