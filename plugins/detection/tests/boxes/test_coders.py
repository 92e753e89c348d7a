"""Codes of boxes: figures of the object detection API's tests, and round trips."""

import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.boxes.coders import FasterRcnnCoder, KeypointCoder, RotatedCoder

# Boxes, anchors, key points and codes of box_coders/faster_rcnn_box_coder_test.py and
# keypoint_box_coder_test.py (tensorflow/models, research/object_detection).
BOXES = np.float32([[10, 10, 20, 15], [0.2, 0.1, 0.5, 0.4]])
ANCHORS = np.float32([[15, 12, 30, 18], [0.1, 0.0, 0.7, 0.9]])
POINTS = np.float32([[15, 12, 10, 15], [0.5, 0.3, 0.2, 0.4]])
CODES = {
    (1.0, 1.0, 1.0, 1.0): [
        [-0.5, -0.416666, -0.405465, -0.182321, -0.5, -0.5, -0.833333, 0],
        [-0.083333, -0.222222, -0.693147, -1.098612, 0.166667, -0.166667, -0.333333, -0.055556],
    ],
    (2.0, 3.0, 4.0, 5.0): [
        [-1, -1.25, -1.62186, -0.911608, -1, -1.5, -1.666667, 0],
        [-0.166667, -0.666667, -2.772588, -5.493062, 0.333333, -0.5, -0.666667, -0.166667],
    ],
}


def run(build, *arrays):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, [None] * (a.ndim - 1) + [a.shape[-1]]) for a in arrays]
        return session.run(build(*fed), dict(zip(fed, arrays, strict=True)))


@pytest.mark.parametrize(("factors", "codes"), CODES.items())
def test_published_codes(factors, codes):
    faster, points = FasterRcnnCoder(factors), KeypointCoder(2, factors)
    with_points = np.concatenate([BOXES, POINTS], axis=1)
    np.testing.assert_allclose(
        run(faster.encode, BOXES, ANCHORS), np.array(codes)[:, :4], atol=1e-4
    )
    np.testing.assert_allclose(run(points.encode, with_points, ANCHORS), codes, atol=1e-4)
    decoded = run(points.decode, np.float32(codes), ANCHORS)
    np.testing.assert_allclose(decoded, with_points, rtol=1e-4, atol=1e-4)
    assert (faster.code_size, points.code_size) == (4, 8)


def test_published_code_without_height_default_factors_and_extreme_codes():
    # test_very_small_Width_nan_after_encoding of the API.
    box, anchor = np.float32([[10, 10, 10.0000001, 20]]), ANCHORS[:1]
    code = run(FasterRcnnCoder((1.0, 1.0, 1.0, 1.0)).encode, box, anchor)
    np.testing.assert_allclose(code, [[-0.833333, 0, -21.128731, 0.510826]], atol=1e-4)
    plain, scaled = (run(FasterRcnnCoder(*f).encode, BOXES, ANCHORS) for f in (((1.0,) * 4,), ()))
    np.testing.assert_allclose(scaled, plain * [10, 10, 5, 5], rtol=1e-5)
    codes = np.float32([[0, 0, 1e4, 1e4]])
    height = np.diff(run(FasterRcnnCoder().decode, codes, ANCHORS[:1])[0, [0, 2]])
    np.testing.assert_allclose(height, 15 * 1000 / 16, rtol=1e-4)


def random_boxes(count):
    generator = np.random.default_rng(8)
    width = generator.uniform(5, 60, count)
    center = generator.uniform(0, 100, [count, 2])
    angle = generator.uniform(-math.pi / 2, math.pi / 2, count)
    return np.float32(np.column_stack([center, 0.7 * width, width, angle]))


def test_codes_of_rotated_boxes_come_back_and_are_smooth():
    boxes, coder = random_boxes(200), RotatedCoder()
    anchors = np.float32([[20, 30, 52, 62], [0, 0, 20, 60]])
    # A batch of two, encoded relative to all anchors.
    labels = boxes[: 2 * len(anchors)].reshape([2, 2, 5])
    codes = run(coder.encode, labels, anchors)
    assert codes.shape == (2, 2, coder.code_size)
    np.testing.assert_allclose(run(coder.decode, codes, anchors), labels, rtol=1e-4, atol=1e-4)
    codes = run(coder.encode, boxes, anchors[1:])
    # A network's direction has any length.
    codes[:, 4:] *= 0.3
    decoded = run(coder.decode, codes, anchors[1:])
    np.testing.assert_allclose(rotated_numpy.paired_iou(decoded, boxes), 1, atol=1e-4)
    # Codes of rotated boxes are smooth.
    box, anchor = np.float32([[14, 25, 8, 32, math.pi / 8]]), np.float32([[8, 16, 24, 32]])
    code = run(RotatedCoder((1.0,) * 5).encode, box, anchor)[0]
    half = math.sqrt(0.5)
    np.testing.assert_allclose(
        code, [-2 / 16, 1 / 16, -math.log(2), math.log(2), half, half], atol=1e-5
    )
    angles = (math.pi / 2 - 1e-3, -math.pi / 2 + 1e-3)
    boxes = np.float32([[0, 0, 5, 10, angle] for angle in angles])
    first, second = run(RotatedCoder().encode, boxes, np.float32([[-5, -5, 5, 5]]))
    assert np.abs(first - second).max() < 0.03
    # Direction 0, height e times as long.
    box = run(
        RotatedCoder((1.0,) * 5).decode,
        np.float32([[0, 0, 1, 0, 1, 0]]),
        np.float32([[-5, -5, 5, 5]]),
    )
    np.testing.assert_allclose(box, [[0, 0, 10, 10 * math.e, -math.pi / 2]], rtol=1e-5)


@pytest.mark.parametrize("coder", [FasterRcnnCoder(), KeypointCoder(1), RotatedCoder()])
def test_padding_has_finite_codes_and_none_has_none(coder):
    size = {4: 4, 6: 6 if isinstance(coder, KeypointCoder) else 5}[coder.code_size]
    codes = run(coder.encode, np.zeros([3, 2, size]), ANCHORS)
    assert codes.shape == (3, 2, coder.code_size)
    assert np.isfinite(codes).all()
    assert run(coder.encode, np.zeros([0, size]), np.zeros([0, 4])).shape == (0, coder.code_size)
    assert run(coder.decode, np.zeros([0, coder.code_size]), np.zeros([0, 4])).shape == (0, size)
