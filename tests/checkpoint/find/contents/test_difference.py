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


def one(compare, a, b):
    """The largest difference of one variable; "same" where there is none."""
    found = compare({"x": a}, {"x": b})
    assert found.any == bool(found.other_values)
    return found.other_values[0][1] if found.other_values else "same"


def test_equal_checkpoints_do_not_differ(compare):
    values = {"w": np.ones([2], np.float32), "s": np.array(b"x", object), "n": np.int64(3)}
    found = compare(values, values)
    assert not found.any
    assert found.same == ["n", "s", "w"]


def test_names_that_only_one_has_are_listed(compare):
    found = compare({"a": [1.0], "c": [1.0]}, {"b": [1.0], "c": [1.0]})
    assert (found.only_in_first, found.only_in_second, found.same) == (["a"], ["b"], ["c"])
    assert found.any


def test_a_name_in_one_only_is_a_difference(compare):
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


def test_the_largest_absolute_difference_is_found(compare):
    assert one(compare, np.array([1.0, -2.0, 3.0]), np.array([1.5, 2.0, 3.0])) == 4.0


def test_nan_equals_nan_and_infinity_equals_infinity(compare):
    values = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    assert one(compare, values, values) == "same"
    assert one(compare, values, values + np.array([0, 0, 0, 2], np.float32)) == 2.0


def test_nan_on_one_side_has_no_number(compare):
    assert one(compare, np.array([np.nan, 1.0]), np.array([0.0, 3.0])) is None
    assert one(compare, np.array([np.inf]), np.array([0.0])) is None


@pytest.mark.parametrize(
    ("a", "b", "largest"),
    [
        (np.array([2**60]), np.array([2**60 + 1]), 1.0),
        (np.array([-(2**63)]), np.array([2**63 - 1]), float(2**64 - 1)),
        (np.array([0], np.uint8), np.array([255], np.uint8), 255.0),
        (np.array([-128], np.int8), np.array([127], np.int8), 255.0),
        (np.array([True, False]), np.array([True, True]), 1.0),
        (np.array([3j], np.complex64), np.array([4], np.complex64), 5.0),
    ],
)
def test_integers_switches_and_complex_numbers_have_differences(compare, a, b, largest):
    assert one(compare, a, b) == largest


def test_bfloat16_has_differences(compare):
    a, b = (np.array([v], ml_dtypes.bfloat16) for v in (1.0, 1.5))
    assert one(compare, a, b) == 0.5
    assert one(compare, a, a) == "same"


def test_texts_differ_without_a_number(compare):
    assert one(compare, np.array([b"a"], object), np.array([b"b"], object)) is None
    assert one(compare, np.array([b"a"], object), np.array([b"a"], object)) == "same"


def test_empty_variables_are_the_same(compare):
    assert one(compare, np.zeros([0, 3]), np.zeros([0, 3])) == "same"
