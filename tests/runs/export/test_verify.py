"""The rule by which an exported model is compared with the restored session."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import EXIT_FAILED
from tf_frame.runs.export.verify import Comparison, DifferenceError, compare, translated_run_errors

TOLERANCE = 1e-5


def compared(expected, found, **scores):
    return compare({"y": expected}, {"y": found}, tolerance=TOLERANCE, scores=scores)


def array(*numbers):
    return np.array(numbers, np.float64)


def test_equal_and_empty_outputs_have_no_difference():
    assert compared(array(1, -2), array(1, -2)) == Comparison(0.0, "y", 0)
    assert compared(np.zeros([0, 3]), np.zeros([0, 3])).largest_difference == 0


def test_below_one_the_bound_is_absolute():
    found = compared(array(0.5, 0.1), array(0.5, 0.1 + 9e-6))
    assert found.largest_difference == pytest.approx(9e-6)
    with pytest.raises(DifferenceError, match=r"1 of 2 .*output y differ, the first at \[1\]"):
        compared(array(0.5, 0.1), array(0.5, 0.1 + 1.1e-5))


def test_above_one_it_is_relative_to_the_largest_value_of_the_output():
    found = compared(array(200, 0.5), array(200, 0.5 + 1.9e-3))
    assert found.largest_difference == pytest.approx(1.9e-3 / 200)
    with pytest.raises(DifferenceError, match="1.1e-05 of the scale 200, allowed: 1e-05"):
        compared(array(200, 0.5), array(200, 0.5 + 2.2e-3))


def test_float32_is_compared_in_double_precision():
    expected = np.array([1.0], np.float32)
    found = np.array([1.0 + 2**-20], np.float32)
    assert compared(expected, found).largest_difference == 2**-20


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_counts_as_floating_point(name):
    dtype = tf.as_dtype(name).as_numpy_dtype
    assert compared(np.array([2.0], dtype), np.array([2.0], dtype)).output == "y"
    with pytest.raises(DifferenceError, match="of the scale 2"):
        compared(np.array([2.0], dtype), np.array([2.5], dtype))


def test_what_is_not_finite_has_to_be_the_same():
    values = array(np.nan, np.inf, -np.inf, 1)
    assert compared(values, values).largest_difference == 0
    for other in (array(0, np.inf, -np.inf, 1), array(np.nan, -np.inf, -np.inf, 1)):
        with pytest.raises(DifferenceError, match="1 of 4 elements"):
            compared(values, other)
    with pytest.raises(DifferenceError, match=r"at \[3\]: inf"):
        compared(values, array(np.nan, np.inf, -np.inf, np.inf))


def test_the_largest_difference_of_all_outputs_is_told_with_its_name():
    expected = {"a": array(0), "b": array(0), "c": array(0)}
    found = {"a": array(1e-6), "b": array(3e-6), "c": array(2e-6)}
    comparison = compare(expected, found, tolerance=TOLERANCE)
    assert (comparison.output, comparison.largest_difference) == ("b", 3e-6)


def test_a_complex_output_is_compared_by_magnitude():
    expected = np.array([3 + 4j], np.complex64)
    with pytest.raises(DifferenceError, match="of the scale 5"):
        compared(expected, expected + 1e-3)
    assert compared(expected, expected).largest_difference == 0


def test_integers_text_and_truth_values_have_to_be_equal():
    for expected, found in [
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([b"a"], object), np.array([b"b"], object)),
        (np.array([True]), np.array([False])),
    ]:
        assert compared(expected, expected) == Comparison()
        with pytest.raises(DifferenceError, match="1 of [12] elements of the output y differ"):
            compared(expected, found)


def classes(*numbers):
    return np.array(numbers, np.int32)


def test_a_class_may_differ_where_its_score_ties():
    scores = array(0.5, 0.5 - 1.9e-5, 0.0)[np.newaxis]
    assert compared(classes(0), classes(1), scores=scores).ties == 1
    # Further from the highest score than two values may be wrong.
    with pytest.raises(DifferenceError, match=r"1 of 1 elements .* 1 where .* has 0"):
        compared(classes(0), classes(1), scores=array(0.5, 0.5 - 2.1e-5, 0.0)[np.newaxis])
    with pytest.raises(DifferenceError):
        compared(classes(0), classes(2), scores=scores)


def test_the_name_of_a_class_may_differ_where_the_class_ties():
    expected = {"class": classes(0, 1), "name": np.array([b"cat", b"dog"], object)}
    found = {"class": classes(1, 1), "name": np.array([b"dog", b"dog"], object)}
    scores = {"p": np.array([[0.5, 0.5], [0.1, 0.9]])}
    assert compare(expected, found, tolerance=TOLERANCE, scores=scores).ties == 1
    found["name"] = np.array([b"dog", b"cat"], object)
    with pytest.raises(DifferenceError, match=r"1 of 2 .* name differ, the first at \[1\]"):
        compare(expected, found, tolerance=TOLERANCE, scores=scores)


def test_only_the_elements_that_tie_are_forgiven():
    scores = np.array([[0.5, 0.5], [0.9, 0.1]])
    with pytest.raises(DifferenceError, match=r"1 of 2 elements .* at \[1\]"):
        compared(classes(0, 0), classes(1, 1), scores=scores)


def test_scores_may_be_another_output_and_have_any_scale():
    scores = np.array([[[1000.0, 1000.0 - 0.019], [3.0, 4.0]]])
    expected = {"class": np.array([[0, 1]]), "logits": scores}
    found = {"class": np.array([[1, 1]]), "logits": scores}
    assert compare(expected, found, tolerance=TOLERANCE).ties == 1


def test_scores_that_do_not_explain_the_expected_classes_forgive_nothing():
    with pytest.raises(DifferenceError):
        compared(classes(1, 0), classes(1, 1), scores=np.array([[0.9, 0.1], [0.5, 0.5]]))


@pytest.mark.parametrize(
    ("expected", "found", "scores"),
    [
        # Classes that do not exist.
        (0, -1, [[0.5, 0.5]]),
        (0, 2, [[0.5, 0.5]]),
        # Scores of other shapes.
        *(([0], [1], np.full(shape, 0.5)) for shape in [(3, 2), (1, 2, 1), ()]),
    ],
)
def test_classes_that_do_not_exist_and_scores_of_other_shapes_are_no_ties(expected, found, scores):
    with pytest.raises(DifferenceError):
        compared(classes(expected), classes(found), scores=np.array(scores))


def test_shapes_and_names_have_to_be_the_same():
    with pytest.raises(DifferenceError, match=r"has the shape \[1, 2\]; expected: \[2\]"):
        compared(array(1, 2), array(1, 2)[np.newaxis])
    with pytest.raises(DifferenceError, match="has the outputs z; expected: y"):
        compare({"y": array(1)}, {"z": array(1)}, tolerance=TOLERANCE)


def test_of_several_signatures_each_is_compared():
    expected = {"a": {"y": array(0)}, "b": {"y": array(0)}}
    found = {"a": {"y": array(1e-6)}, "b": {"y": array(4e-6)}}
    comparison = compare(expected, found, tolerance=TOLERANCE)
    assert comparison.largest_difference == 4e-6
    found["b"]["y"] = array(1)
    with pytest.raises(DifferenceError):
        compare(expected, found, tolerance=TOLERANCE)


def test_ties_of_several_outputs_add_up():
    assert Comparison(1e-6, "a", 2).merge(Comparison(2e-6, "b", 3)) == Comparison(2e-6, "b", 5)


def test_a_model_that_cannot_be_run_is_told_in_one_sentence():
    message = "thing was written, but cannot be run: no table"
    with pytest.raises(DifferenceError, match=message), translated_run_errors("thing"):
        raise tf.errors.FailedPreconditionError(None, None, "no table")
    assert DifferenceError.exit_code == EXIT_FAILED
