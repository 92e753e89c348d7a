import numpy as np
import pytest

from tf_frame.runs.export.rounded import compare_rounded
from tf_frame.runs.export.verify import DifferenceError


def compared(expected, found, tolerance=0.05):
    return compare_rounded(
        [({"out": np.asarray(each)}, {}) for each in expected],
        [{"out": np.asarray(each)} for each in found],
        tolerance=tolerance,
    )


def test_the_mean_over_all_batches_counts():
    comparison = compared([[0.0, 1.0], [0.5, 0.5]], [[0.1, 1.0], [0.5, 0.4]])
    assert comparison.largest_difference == pytest.approx(0.05)
    assert (comparison.output, comparison.kind) == ("out", "mean")


def test_it_is_in_units_of_the_scale():
    assert compared([[0.0, 10.0]], [[0.0, 9.0]]).largest_difference == pytest.approx(0.05)


def test_of_classes_the_share_counts():
    classes = np.arange(40)
    others = np.where(classes == 7, 8, classes)
    assert compared([classes], [others]).largest_difference == pytest.approx(1 / 40)


@pytest.mark.parametrize("found", [[0.2, 1.0], [np.nan, 1.0], [0.0, 1.0, 0.0]])
def test_more_is_an_error(found):
    with pytest.raises(DifferenceError, match="out"):
        compared([[0.0, 1.0]], [found])
