"""Overlaps of upright boxes against loops over boxes, in graphs and in NumPy."""

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import upright

GENERATOR = np.random.default_rng(5)


def random_boxes(*shape):
    edges = GENERATOR.uniform(-20, 20, [*shape, 2, 2])
    return np.float32(np.sort(edges, axis=-2).reshape([*shape, 4]))


def reference(a, b):
    """Intersection, area of `a` and area of `b`, box by box."""
    result = np.zeros([3, len(a), len(b)])
    for i, j in np.ndindex(len(a), len(b)):
        height = min(a[i, 2], b[j, 2]) - max(a[i, 0], b[j, 0])
        width = min(a[i, 3], b[j, 3]) - max(a[i, 1], b[j, 1])
        shared = height * width if height > 0 and width > 0 else 0
        result[:, i, j] = shared, np.prod(a[i, 2:] - a[i, :2]), np.prod(b[j, 2:] - b[j, :2])
    return result


def test_overlaps_of_sets_of_boxes():
    a, b = random_boxes(7), random_boxes(9)
    shared, area_a, area_b = reference(a, b)
    with tf.Graph().as_default(), tf.Session() as session:
        # One size is known and the other is not.
        fed = tf.placeholder(tf.float32, [None, 4])
        build = (upright.iou, upright.intersection_over_area)
        iou, share = session.run([f(fed, tf.constant(b)) for f in build], {fed: a})
        area = session.run(upright.areas(fed), {fed: a})
    np.testing.assert_allclose(iou, shared / (area_a + area_b - shared), atol=1e-6)
    np.testing.assert_allclose(share, shared / area_a, atol=1e-6)
    np.testing.assert_allclose(area, area_a[:, 0], rtol=1e-5)
    np.testing.assert_allclose(upright.iou(a, b, ops=np), iou, atol=1e-6)
    assert np.count_nonzero(iou) > 20
    a, b = random_boxes(3, 4), random_boxes(5)
    together = upright.iou(a, b, ops=np)
    assert together.shape == (3, 4, 5)
    np.testing.assert_array_equal(together[2], upright.iou(a[2], b, ops=np))
    boxes = np.float32([[0, 0, 0, 0], [0, 0, 5, 0], [4, 4, 2, 2], [0, 0, 5, 5]])
    expected = np.diag([0, 0, 0, 1.0])
    np.testing.assert_array_equal(upright.iou(boxes, boxes, ops=np), expected)
    np.testing.assert_array_equal(upright.intersection_over_area(boxes, boxes, ops=np), expected)
    assert upright.iou(random_boxes(0), random_boxes(3), ops=np).shape == (0, 3)
