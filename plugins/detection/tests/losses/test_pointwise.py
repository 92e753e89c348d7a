"""Losses of classes and boxes: figures of the object detection API's tests (tensorflow/models,
research/object_detection/core/losses_test.py), and NumPy.
"""

import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.losses.pointwise import (
    sigmoid_focal,
    smooth_l1,
    weighted_sigmoid,
    weighted_softmax,
)

# Logits, targets and weights of WeightedSigmoidClassificationLossTest.
LOGITS = np.float32(
    [
        [[-100, 100, -100], [100, -100, -100], [100, 0, -100], [-100, -100, 100]],
        [[-100, 0, 100], [-100, 100, -100], [100, 100, 100], [0, 0, -1]],
    ]
)
TARGETS = np.float32(
    [
        [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]],
        [[0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 0, 0]],
    ]
)
WEIGHTS = np.float32([[1, 1, 1, 1], [1, 1, 1, 0]])


def run(loss, *arrays, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, [None] * array.ndim) for array in arrays]
        return session.run(loss(*fed, **options), dict(zip(fed, arrays, strict=True)))


def test_published_sigmoid_and_softmax_losses_of_each_anchor():
    half = -math.log(0.5)
    expected = [[0, 0, half, 0], [half, 0, 0, 0]]
    np.testing.assert_allclose(run(weighted_sigmoid, LOGITS, TARGETS, WEIGHTS), expected, atol=1e-6)
    # WeightedSoftmaxClassificationLossTest.testReturnsCorrectLoss: -1.5 log(1/2) in all.
    logits = np.float32(
        [
            [[-100, 100, -100], [100, -100, -100], [0, 0, -100], [-100, -100, 100]],
            [[-100, 0, 0], [-100, 100, -100], [-100, 100, -100], [100, -100, -100]],
        ]
    )
    targets = np.float32(
        [
            [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]],
            [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]],
        ]
    )
    weights = np.float32([[1, 1, 0.5, 1], [1, 1, 1, 0]])
    losses = run(weighted_softmax, logits, targets, weights)
    np.testing.assert_allclose(losses, [[0, 0, half / 2, 0], [half, 0, 0, 0]], atol=1e-6)
    # Divided by 100, the first anchor's logits are -1, 1 and -1.
    scaled = run(weighted_softmax, logits, targets, weights, logit_scale=100)
    np.testing.assert_allclose(scaled[0, 0], math.log(1 + 2 * math.exp(-2)), rtol=1e-5)


@pytest.mark.parametrize(("alpha", "factor"), [(1.0, 8), (0.75, 0.75 * 8 + 0.25 * 16)])
def test_published_sums_of_focal_losses(alpha, factor):
    # testExpectedLossWithAlphaOneAndZeroGamma and -Alpha75-: 8 anchors, all probabilities 1/2.
    targets = np.eye(3, dtype=np.float32)[[[1, 0, 0, 2], [2, 1, 0, 0]]]
    losses = run(sigmoid_focal, 0 * targets, targets, np.ones([2, 4]), alpha=alpha, gamma=0)
    np.testing.assert_allclose(losses.sum(), -math.log(0.5) * factor, rtol=1e-6)


def test_focal_loss_is_that_of_the_paper():
    # testEasyExamplesProduceSmallLossComparedToSigmoidXEntropy.
    probabilities = np.array([0.97, 0.91, 0.73, 0.27, 0.09, 0.03])
    logits = np.float32(np.log(probabilities / (1 - probabilities)))[None, :, None]
    arrays = (logits, np.float32([1, 1, 1, 0, 0, 0])[None, :, None], np.ones([1, 6]))
    ratios = run(weighted_sigmoid, *arrays) / run(sigmoid_focal, *arrays, alpha=None)
    assert (10 ** np.floor(np.log10(ratios))).tolist() == [[1000, 100, 10, 10, 100, 1000]]
    # Focal loss is that of the paper.
    generator = np.random.default_rng(1)
    logits = np.float32(generator.normal(size=[2, 5, 3], scale=3))
    targets = np.float32(generator.integers(0, 2, [2, 5, 3]))
    weights = np.float32(generator.uniform(0, 2, [2, 5]))
    p = 1 / (1 + np.exp(-np.float64(logits)))
    right = np.where(targets == 1, p, 1 - p)
    alpha = np.where(targets == 1, 0.25, 0.75)
    expected = (-alpha * (1 - right) ** 2 * np.log(right)).sum(axis=2) * weights
    np.testing.assert_allclose(run(sigmoid_focal, logits, targets, weights), expected, rtol=1e-4)
    # Extreme logits have finite losses and gradients.
    logits, targets = np.float32([[[-1000, 1000]]]), np.float32([[[1, 0]]])

    def gradient(logits, targets, weights):
        return tf.gradients(sigmoid_focal(logits, targets, weights), logits)[0]

    arrays = (logits, targets, np.ones([1, 1]))
    np.testing.assert_allclose(run(sigmoid_focal, *arrays), [[250 + 750]])
    np.testing.assert_allclose(run(gradient, *arrays), [[[-0.25, 0.75]]])
    assert np.all(run(gradient, -logits, *arrays[1:]) == 0)


def test_published_sum_of_smooth_l1():
    # WeightedSmoothL1LocalizationLossTest.testReturnsCorrectLoss (tensorflow/models,
    # research/object_detection/core/losses_test.py).
    codes = np.float32(
        [
            [[2.5, 0, 0.4, 0], [0, 0, 0, 0], [0, 2.5, 0, 0.4]],
            [[3.5, 0, 0, 0], [0, 0.4, 0, 0.9], [0, 0, 1.5, 0]],
        ]
    )
    weights = np.float32([[2, 1, 1], [0, 3, 0]])
    np.testing.assert_allclose(run(smooth_l1, codes, 0 * codes, weights).sum(), 7.695, rtol=1e-5)


@pytest.mark.parametrize("delta", [1.0, 0.25])
def test_smooth_l1_is_a_square_and_a_line(delta):
    generator = np.random.default_rng(1)
    codes, targets = np.float32(generator.normal(size=[2, 3, 7, 4]))
    weights = np.float32(generator.uniform(0, 2, [3, 7]))
    x = np.abs(codes - targets)
    expected = np.where(x <= delta, x**2 / 2, delta * (x - delta / 2)).sum(axis=2) * weights

    def with_gradients(codes, *arguments):
        losses = smooth_l1(codes, *arguments, delta=delta)
        return losses, tf.gradients(losses, codes)[0]

    losses, gradients = run(with_gradients, codes, targets, weights)
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=1e-6)
    slope = np.clip(codes - targets, -delta, delta) * weights[..., None]
    np.testing.assert_allclose(gradients, slope, rtol=1e-5, atol=1e-6)
