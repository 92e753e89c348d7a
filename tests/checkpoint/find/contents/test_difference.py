import ml_dtypes
import numpy as np
import pytest

from tf_frame.checkpoint.find.contents import compare_checkpoints
from tf_frame.checkpoint.find.reader import Checkpoint


@pytest.fixture
def compare(write):
    def compare(first, second):
        return compare_checkpoints(
            Checkpoint(write("first", first)), Checkpoint(write("second", second))
        )

    return compare


def test_equal_checkpoints_do_not_differ(compare):
    values = {"w": np.ones([2], np.float32), "s": np.array(b"x", object), "n": np.int64(3)}
    found = compare(values, values)
    assert not found.any
    assert found.same == ["n", "s", "w"]


def test_names_that_only_one_has_are_listed(compare):
    found = compare({"a": [1.0], "c": [1.0]}, {"b": [1.0], "c": [1.0]})
    assert (found.only_in_first, found.only_in_second, found.same) == (["a"], ["b"], ["c"])
    assert found.any
    assert compare({"a": [1.0], "c": [1.0]}, {"c": [1.0]}).any
    assert compare({"c": [1.0]}, {"a": [1.0], "c": [1.0]}).any


@pytest.mark.parametrize(
    ("other", "described"),
    [(np.zeros([3], np.float32), "float32 [3]"), (np.zeros([2], np.int32), "int32 [2]")],
)
def test_other_shapes_and_types_are_listed_with_both(compare, other, described):
    found = compare({"w": np.zeros([2], np.float32)}, {"w": other})
    assert found.other_shapes == [("w", "float32 [2]", described)]
    assert found.any


ODD = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
ONE, HALF_MORE = (np.array([value], ml_dtypes.bfloat16) for value in (1.0, 1.5))


@pytest.mark.parametrize(
    ("a", "b", "largest"),
    [
        (np.array([1.0, -2.0, 3.0]), np.array([1.5, 2.0, 3.0]), 4.0),
        # NaN equals NaN, and infinity equals infinity.
        (ODD, ODD, "same"),
        (ODD, ODD + np.array([0, 0, 0, 2], np.float32), 2.0),
        # NaN on one side has no number.
        (np.array([np.nan, 1.0]), np.array([0.0, 3.0]), None),
        (np.array([np.inf]), np.array([0.0]), None),
        (np.array([2**60]), np.array([2**60 + 1]), 1.0),
        (np.array([-(2**63)]), np.array([2**63 - 1]), float(2**64 - 1)),
        (np.array([0], np.uint8), np.array([255], np.uint8), 255.0),
        (np.array([-128], np.int8), np.array([127], np.int8), 255.0),
        (np.array([True, False]), np.array([True, True]), 1.0),
        (np.array([3j], np.complex64), np.array([4], np.complex64), 5.0),
        (ONE, HALF_MORE, 0.5),
        (ONE, ONE, "same"),
        (np.array([b"a"], object), np.array([b"b"], object), None),
        (np.array([b"a"], object), np.array([b"a"], object), "same"),
        (np.zeros([0, 3]), np.zeros([0, 3]), "same"),
    ],
)
def test_the_largest_absolute_difference_is_found(compare, a, b, largest):
    found = compare({"x": a}, {"x": b})
    assert found.any == bool(found.other_values) == (largest != "same")
    assert found.other_values == ([] if largest == "same" else [("x", largest)])
