import numpy as np
import pytest

from tf_frame_detection.evaluation.overlaps import rotated_overlaps
from tf_frame_detection.evaluation.rotation import angle_errors, from_corners, scaled

RANDOM = np.random.RandomState(3)


def boxes(count):
    """Rotated boxes of all angles, wider than high."""
    centres = RANDOM.uniform(0, 100, [count, 2])
    height = RANDOM.uniform(2, 10, count)
    sides = np.stack([height, height + RANDOM.uniform(0.1, 20, count)], axis=1)
    angles = RANDOM.uniform(-np.pi / 2, np.pi / 2, [count, 1])
    return np.concatenate([centres, sides, angles], axis=1)


def corners(boxes):
    """Upper left, upper right, lower right and lower left corner of a box that is not turned."""
    signs = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]]) / 2
    offsets = signs * boxes[:, np.newaxis, 2:4]
    sine, cosine = (function(boxes[:, 4:]) for function in (np.sin, np.cos))
    rows = offsets[..., 0] * cosine + offsets[..., 1] * sine
    columns = offsets[..., 1] * cosine - offsets[..., 0] * sine
    return boxes[:, np.newaxis, :2] + np.stack([rows, columns], axis=2)


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("step", [1, -1])
def test_corners_in_either_order_give_the_box_back(start, step):
    expected = boxes(50)
    order = (start + step * np.arange(4)) % 4
    np.testing.assert_allclose(from_corners(corners(expected)[:, order]), expected, atol=1e-9)


def test_an_angle_is_less_than_a_quarter_turn_from_the_columns():
    upward = np.array([[0.0, 0, 1, 2, np.pi / 2]])
    assert from_corners(corners(upward))[0, 4] == pytest.approx(-np.pi / 2)


def test_an_even_scale_keeps_the_angle():
    before = boxes(50)
    np.testing.assert_allclose(
        scaled(before, np.array([2.0, 2.0])), before * [2, 2, 2, 2, 1], rtol=1e-9
    )


def test_an_uneven_scale_turns_the_longer_side_and_multiplies_the_area():
    before = np.array([[10.0, 20, 2, 8, np.pi / 4]])
    found = scaled(before, np.array([3.0, 1.0]))[0]
    np.testing.assert_allclose(found[:2], [30, 20])
    assert found[4] == pytest.approx(np.arctan2(3, 1))
    assert found[3] == pytest.approx(8 * np.hypot(3, 1) / 2**0.5)
    assert found[2] * found[3] == pytest.approx(3 * 2 * 8)


def test_no_boxes_are_no_problem():
    assert scaled(np.zeros([0, 5]), np.ones(2)).shape == (0, 5)
    assert from_corners(np.zeros([0, 4, 2])).shape == (0, 5)


def test_errors_of_angles_are_modulo_half_a_turn_and_of_long_boxes():
    truth = np.zeros([4, 5])
    truth[:, 2:4] = [[2, 3], [2, 2.9], [2, 6], [2, 6]]
    truth[:, 4] = np.radians([-89, 0, 10, 0])
    found = truth.copy()
    found[:, 4] = np.radians([89, 45, -5, 90])
    np.testing.assert_allclose(angle_errors(found, truth), [2, 15, 90])


def test_overlap_with_a_crowd_is_the_share_that_lies_inside():
    """The IoU is that of a stand-in: 6 of 10 + 30 - 6, of areas 10 and 30."""
    found, others = np.zeros([1, 5]), np.zeros([2, 5])
    found[:, 2:4], others[:, 2:4] = [2, 5], [5, 6]
    overlaps = rotated_overlaps(lambda a, b: np.full([len(a), len(b)], 6 / 34))
    np.testing.assert_allclose(overlaps(found, others, np.array([False, True])), [[6 / 34, 0.6]])
