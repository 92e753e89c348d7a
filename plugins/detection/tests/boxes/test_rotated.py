"""Rotated boxes against polygons of shapely."""

import functools
import math

import numpy as np
import pytest
import shapely
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated, rotated_numpy, upright

EACH = 1000


def random_boxes(generator, offset=0.0):
    center = generator.uniform(-30, 30, [EACH, 2]) + offset
    width = generator.uniform(2, 60, EACH)
    height = width * generator.uniform(0.02, 1, EACH)
    angle = generator.uniform(-math.pi / 2, math.pi / 2, EACH)
    return np.float32(np.column_stack([center, height, width, angle]))


def shifted(boxes, along, aside):
    """Boxes moved in units of their width and height."""
    sin, cos = np.sin(boxes[:, 4]), np.cos(boxes[:, 4])
    along, aside = along * boxes[:, 3], aside * boxes[:, 2]
    moved = boxes.copy()
    moved[:, 0] += along * sin + aside * cos
    moved[:, 1] += along * cos - aside * sin
    return moved


def with_values(boxes, **values):
    boxes = boxes.copy()
    for name, value in values.items():
        boxes[:, ("row", "column", "height", "width", "angle").index(name)] = value
    return boxes


def pairs():
    """Ten kinds of 1000 pairs."""
    generator = np.random.default_rng(3)
    boxes = random_boxes(generator)
    shift = generator.uniform(-1, 1, EACH)
    # Edges at multiples of 1/4 and no rotation, so that they touch exactly.
    even = np.round(4 * with_values(boxes, angle=0)) / 4
    thin = with_values(boxes, height=boxes[:, 3] / 300)
    empty = boxes.copy()
    empty[::3, 2] = 0
    empty[::2, 3] = 0
    quarter = with_values(boxes, height=boxes[:, 3], width=boxes[:, 2])
    yield from {
        "random": (boxes, random_boxes(generator)),
        "identical": (boxes, boxes),
        "the same, of other numbers": (boxes, with_values(quarter, angle=boxes[:, 4] + np.pi / 2)),
        "touching along an edge": (even, with_values(even, column=even[:, 1] + even[:, 3])),
        "sharing a corner": (
            even,
            with_values(
                even + np.float32([0, 0, 2, 6, 0]), row=even[:, 0] + 1, column=even[:, 1] + 3
            ),
        ),
        "parallel edges": (boxes, shifted(boxes, shift, generator.uniform(-1, 1, EACH))),
        "contained": (boxes, with_values(boxes, height=boxes[:, 2] / 3, width=boxes[:, 3] / 2)),
        "without area": (empty, boxes),
        "thin, each on the other": (thin, shifted(thin, shift, 0)),
        "far from the origin": (random_boxes(generator, 1e5), random_boxes(generator, 1e5)),
    }.values()


def polygon_iou(a, b):
    """IoU of polygons; 0 where one has no area, which is no valid polygon."""
    a, b = (shapely.polygons(rotated_numpy.corners(boxes)) for boxes in (a, b))
    area_a, area_b = shapely.area(a), shapely.area(b)
    valid = np.minimum(area_a, area_b) > 0
    shared = np.zeros(len(a))
    shared[valid] = shapely.area(shapely.intersection(a[valid], b[valid]))
    return np.divide(shared, area_a + area_b - shared, out=shared, where=valid)


def run(build, *arrays):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, [None] * array.ndim) for array in arrays]
        return session.run(build(*fed), dict(zip(fed, arrays, strict=True)))


def test_iou_is_that_of_polygons_and_of_upright_boxes():
    a, b = (np.concatenate(boxes) for boxes in zip(*pairs(), strict=True))
    assert len(a) == 10_000
    expected = polygon_iou(a, b)
    assert np.mean(expected > 0.01) > 0.5
    np.testing.assert_allclose(rotated_numpy.paired_iou(a, b), expected, atol=1e-9)
    np.testing.assert_allclose(run(rotated.paired_iou, a, b), expected, atol=1e-5)
    a, b = (with_values(boxes[:50], angle=0) for boxes in next(pairs()))
    as_upright = [rotated.enclosing(np.float64(boxes), ops=np) for boxes in (a, b)]
    np.testing.assert_allclose(
        rotated_numpy.iou(a, b), upright.iou(*as_upright, ops=np), atol=1e-12
    )


@pytest.mark.slow
def test_iou_of_sets_of_none_and_of_padding():
    iou_in_graph = functools.partial(run, rotated.iou)
    a, b = next(pairs())
    a, b = a[:6], b[:9]
    expected = [[polygon_iou(x[None], y[None])[0] for y in b] for x in a]
    np.testing.assert_allclose(rotated_numpy.iou(a, b), expected, atol=1e-12)
    np.testing.assert_allclose(iou_in_graph(a, b), expected, atol=1e-6)
    assert np.count_nonzero(expected) > 5
    assert iou_in_graph(np.zeros([0, 5]), np.zeros([3, 5])).shape == (0, 3)
    assert rotated_numpy.iou(np.zeros([2, 5]), np.zeros([0, 5])).shape == (2, 0)
    padding, box = np.zeros([1, 5]), np.array([[0, 0, 2, 3, 0.4]])
    assert iou_in_graph(np.concatenate([padding, box]), padding).tolist() == [[0], [0]]


def test_corners_and_the_direction_of_angles_at_their_ends():
    # 4 wide, 2 high; a positive angle turns clockwise, the right end down.
    corners = run(rotated.corners, np.float32([[10, 20, 2, 4, 0], [0, 0, 2, 4, math.pi / 6]]))
    np.testing.assert_allclose(corners[0], [[9, 18], [9, 22], [11, 22], [11, 18]], atol=1e-5)
    right_end = corners[1, 1:3].mean(axis=0)
    np.testing.assert_allclose(
        right_end, [2 * math.sin(math.pi / 6), 2 * math.cos(math.pi / 6)], atol=1e-6
    )
    assert run(rotated.from_corners, np.zeros([2, 4, 2])).tolist() == [[0] * 5] * 2
    assert run(rotated.from_corners, np.zeros([0, 4, 2])).shape == (0, 5)
    upwards = np.float32([[0, 0, 1, 3, angle] for angle in (math.pi / 2, -math.pi / 2)])
    found = run(rotated.canonical, upwards)
    np.testing.assert_allclose(found[:, 4], -math.pi / 2, atol=1e-6)


def assert_in_range(angles):
    assert np.all((angles >= np.float32(-math.pi / 2)) & (angles < np.float32(math.pi / 2)))


def test_boxes_from_corners_in_any_order_and_moved_by_a_scale():
    boxes = random_boxes(np.random.default_rng(4))
    boxes[:, 2] *= 0.9
    corners = rotated_numpy.corners(boxes)
    starts = np.repeat(range(4), 2)[:, None]
    orders = (starts + np.tile([[1], [-1]], [4, 1]) * np.arange(4)) % 4
    found = run(rotated.from_corners, np.float32(corners[:, orders]))
    assert found.shape == (EACH, 8, 5)
    np.testing.assert_allclose(found[..., :4], boxes[:, None, :4].repeat(8, 1), atol=1e-4)
    turn = found[..., 4] - boxes[:, None, 4]
    # Directions near -pi/2 and pi/2 are the same.
    np.testing.assert_allclose(turn - math.pi * np.round(turn / math.pi), 0, atol=1e-4)
    assert_in_range(found[..., 4])
    # Corners moved by a scale keep centre and area.
    box = np.float32([[10, 20, 4, 12, 0.5]])
    corners = run(rotated.corners, box) * [1, 2]
    found = run(rotated.from_corners, np.float32(corners))[0]
    np.testing.assert_allclose(found[:2], [10, 40], rtol=1e-5)
    np.testing.assert_allclose(found[2] * found[3], 2 * 48, rtol=1e-5)
    np.testing.assert_allclose(found[4], math.atan2(math.sin(0.5), 2 * math.cos(0.5)), rtol=1e-5)


def test_canonical_and_enclosing_boxes_fit_the_polygons():
    boxes = random_boxes(np.random.default_rng(6))
    boxes[:, 4] *= 2
    boxes[::2, [2, 3]] = boxes[::2, [3, 2]]
    found = run(rotated.canonical, boxes)
    assert np.all(found[:, 3] >= found[:, 2])
    assert_in_range(found[:, 4])
    np.testing.assert_allclose(rotated_numpy.paired_iou(found, boxes), 1, atol=1e-5)
    np.testing.assert_array_equal(run(rotated.canonical, found), found)
    boxes = random_boxes(np.random.default_rng(7))
    corners = rotated_numpy.corners(boxes)
    bounds = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    np.testing.assert_allclose(run(rotated.enclosing, boxes), bounds, atol=1e-4)
