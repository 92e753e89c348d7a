"""Smooth L1 against a figure of the object detection API's tests, and NumPy."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.losses.localization import smooth_l1


def run(codes, targets, weights, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, [None] * a.ndim) for a in (codes, targets, weights)]
        losses = smooth_l1(*fed, **options)
        gradients = tf.gradients(losses, fed[0])[0]
        values = dict(zip(fed, (codes, targets, weights), strict=True))
        return session.run((losses, gradients), values)


def test_published_sum():
    # WeightedSmoothL1LocalizationLossTest.testReturnsCorrectLoss (tensorflow/models,
    # research/object_detection/core/losses_test.py).
    codes = np.float32(
        [
            [[2.5, 0, 0.4, 0], [0, 0, 0, 0], [0, 2.5, 0, 0.4]],
            [[3.5, 0, 0, 0], [0, 0.4, 0, 0.9], [0, 0, 1.5, 0]],
        ]
    )
    weights = np.float32([[2, 1, 1], [0, 3, 0]])
    np.testing.assert_allclose(run(codes, 0 * codes, weights)[0].sum(), 7.695, rtol=1e-5)


@pytest.mark.parametrize("delta", [1.0, 0.25])
def test_square_and_line(delta):
    generator = np.random.default_rng(1)
    codes, targets = np.float32(generator.normal(size=[2, 3, 7, 4]))
    weights = np.float32(generator.uniform(0, 2, [3, 7]))
    x = np.abs(codes - targets)
    expected = np.where(x <= delta, x**2 / 2, delta * (x - delta / 2)).sum(axis=2) * weights
    losses, gradients = run(codes, targets, weights, delta=delta)
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=1e-6)
    slope = np.clip(codes - targets, -delta, delta) * weights[..., None]
    np.testing.assert_allclose(gradients, slope, rtol=1e-5, atol=1e-6)
