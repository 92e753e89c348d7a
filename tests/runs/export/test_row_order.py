"""Rows that are sorted by a score may change places where scores tie, and nowhere else."""

import numpy as np
import pytest

from tf_frame.runs.export.formats.tflite_int8 import compare_rounded
from tf_frame.runs.export.verify import DifferenceError, compare, compare_batches

# Two examples of four rows; those of 0.5 tie.
SCORES = [[0.9, 0.5 + 2e-6, 0.5, 0.1], [0.8, 0.3, 0.2, 0.0]]
BOXES = np.arange(16.0).reshape(2, 4, 2)
CLASSES = np.array([[1, 2, 3, 4], [1, 1, 2, 0]])


def rows(*orders, scores=SCORES):
    """Outputs whose rows, but for the scores, come in an order of each example."""
    order = np.array(orders)[..., None]
    return {
        "scores": np.array(scores),
        "boxes": np.take_along_axis(BOXES, order, axis=1),
        "classes": np.take_along_axis(CLASSES, order[..., 0], axis=1),
        "count": np.array([4.0, 3.0]),
    }


AS_EXPECTED = (0, 1, 2, 3)


def compared(found, function=compare, **options):
    expected = rows(AS_EXPECTED, AS_EXPECTED)
    return function(expected, found, tolerance=1e-5, ranked_by="scores", **options)


def test_rows_whose_scores_tie_may_change_places():
    swapped = rows((0, 2, 1, 3), AS_EXPECTED)
    assert compared(swapped).largest_difference <= 2e-6
    with pytest.raises(DifferenceError):
        compare(rows(AS_EXPECTED, AS_EXPECTED), swapped, tolerance=1e-5)


def test_signatures_batches_and_rounded_exports_too():
    expected, swapped = rows(AS_EXPECTED, AS_EXPECTED), rows((0, 2, 1, 3), AS_EXPECTED)
    options = {"tolerance": 1e-5, "ranked_by": "scores"}
    compare({"serving_default": expected}, {"serving_default": swapped}, **options)
    compare_batches([(expected, {})], [swapped], **options)
    compare_rounded([(expected, {})], [swapped], **options)


@pytest.mark.parametrize(
    "orders", [((0, 1, 3, 2), AS_EXPECTED), (AS_EXPECTED, (1, 0, 2, 3)), ((2, 1, 0, 3),) * 2]
)
def test_other_rows_may_not(orders):
    with pytest.raises(DifferenceError, match="boxes"):
        compared(rows(*orders))


def test_a_tied_row_has_to_be_the_same_row():
    for name in ("boxes", "classes"):
        swapped = rows((0, 2, 1, 3), AS_EXPECTED)
        swapped[name][0, 1] += 1
        with pytest.raises(DifferenceError, match=name):
            compared(swapped)


def test_one_row_does_not_stand_for_two():
    with pytest.raises(DifferenceError, match="1 of 16|2 of 16"):
        compared(rows((0, 1, 1, 3), AS_EXPECTED))


def test_scores_that_rise_are_not_put_in_order():
    rising = [[0.9, 0.5, 0.5 + 2e-6, 0.1], SCORES[1]]
    with pytest.raises(DifferenceError, match="boxes"):
        compared(rows((0, 2, 1, 3), AS_EXPECTED, scores=rising))


def test_outputs_without_the_score_are_compared_as_they_are():
    with pytest.raises(DifferenceError, match="y"):
        compare({"y": BOXES}, {"y": BOXES[::-1]}, tolerance=1e-5, ranked_by="scores")
