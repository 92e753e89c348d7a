"""Centres, groups and merging against NumPy."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute
from tf_frame_deeplab.panoptic.components import components
from tf_frame_deeplab.panoptic.grouping import find_centers, group, group_instances, merge
from tf_frame_deeplab.panoptic.targets import Targets

RANDOM = np.random.RandomState(3)


def centers_by_hand(heat, threshold, window, most):
    reach = window // 2
    centers = []
    for row, column in np.ndindex(heat.shape):
        rows = slice(max(row - reach, 0), row + reach + 1)
        columns = slice(max(column - reach, 0), column + reach + 1)
        value = heat[row, column]
        if value > threshold and value == heat[rows, columns].max():
            centers.append((value, row, column))
    return [[row, column] for _, row, column in sorted(centers, reverse=True)[:most]]


@pytest.mark.parametrize(("window", "most"), [(1, 10), (3, 200), (5, 200), (3, 2)])
def test_centers_are_the_highest_of_their_window(window, most):
    heat = RANDOM.uniform(size=[9, 13]).astype(np.float32)
    options = {"threshold": 0.4, "window": window, "max_instances": most}
    centers = compute(lambda heat: find_centers(heat, **options), heat)
    assert centers.tolist() == centers_by_hand(heat, 0.4, window, most)


def test_pixels_join_the_centre_that_is_nearest_to_their_target():
    centers = np.array([[1, 2], [6, 5], [3, 8]], np.int32)
    offsets = RANDOM.normal(scale=3, size=[8, 10, 2]).astype(np.float32)
    groups = compute(group, centers, offsets)
    for place in np.ndindex(8, 10):
        distances = np.sum((np.array(place) + offsets[place] - centers) ** 2, axis=1)
        assert groups[place] == np.argmin(distances) + 1
    # Without a centre there is no group.
    assert not compute(group, np.zeros([0, 2], np.int32), np.ones([4, 5, 2], np.float32)).any()


@pytest.mark.parametrize(
    ("things", "semantic", "groups", "classes", "instances"),
    [
        (
            (1, 2),
            *([[0, 1, 1, 2], [0, 2, 2, 2]], [[1, 1, 1, 1], [1, 2, 2, 2]]),
            *([[0, 1, 1, 1], [0, 2, 2, 2]], [[0, 1, 1, 1], [0, 2, 2, 2]]),
        ),
        ((2,), [[0, 1, 2, 2]], [[1, 1, 1, 1]], [[0, 1, 2, 2]], [[0, 0, 1, 1]]),
    ],
)
def test_a_thing_has_the_class_of_most_of_its_pixels(things, semantic, groups, classes, instances):
    merged = compute(
        lambda *maps: merge(*maps, thing_classes=things, num_classes=3), semantic, groups
    )
    assert [values.tolist() for values in merged] == [classes, instances]


def check_same_areas(numbers, expected, count):
    """Checks that areas are the same, by whatever numbers; 0 is outside of all of them."""
    pairs = set(zip(np.ravel(expected), np.ravel(numbers), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({two for _, two in pairs}) == count
    assert (0, 0) in pairs


@pytest.mark.slow
def test_the_labels_of_instances_give_the_instances_back():
    """Two that touch, one apart, and an image without any."""
    instances = np.zeros([2, 16, 20], np.int32)
    instances[0, 2:8, 2:8], instances[0, 2:8, 8:14], instances[0, 11:15, 15:19] = 4, 9, 2
    targets = Targets(center_sigma=1.5, edge_width=3, ignore_label=255)
    with tf.Graph().as_default(), tf.Session() as session:
        known = tf.ones([16, 20], tf.bool)
        labels = [targets(tf.constant(one), known) for one in instances]
        heat = tf.stack([label["instance_center"] for label in labels])
        offsets = tf.stack([label["instance_offset"][..., :2] for label in labels])
        semantic = tf.cast(instances > 0, tf.int32)
        settings = {"threshold": 0.1, "window": 5, "max_instances": 9}
        results = group_instances(
            semantic, heat, offsets, **settings, thing_classes=(1,), num_classes=2
        )
        classes, numbers = session.run(results)
    np.testing.assert_array_equal(classes, instances > 0)
    check_same_areas(numbers, instances, count=4)


def test_components_are_areas_that_touch():
    classes = np.array([[1, 1, 0, 2, 2], [0, 1, 0, 1, 2], [1, 0, 1, 1, 0], [1, 1, 1, 0, 2]])
    areas = [[1, 1, 0, 2, 2], [0, 1, 0, 3, 2], [3, 0, 3, 3, 0], [3, 3, 3, 0, 4]]
    check_same_areas(components(classes, (1, 2)), areas, count=5)
    spiral = np.zeros([9, 9], int)
    spiral[::2] = 1
    spiral[1::4, 8], spiral[3::4, 0] = 1, 1
    assert len(np.unique(components(spiral, (1,)))) == 2
