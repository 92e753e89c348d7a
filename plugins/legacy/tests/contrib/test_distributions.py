"""The distributions that TensorFlow no longer has, against NumPy."""

import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.distributions import (
    MultivariateNormalDiag,
    MultivariateNormalDiagWithSoftplusScale,
)

LOC = np.array([[1.0, -1.0, 0.5], [2.0, 0.0, 3.0]], np.float32)
SCALE = np.array([0.5, -2.0, 1.5], np.float32)
X = np.array([[0.0, 1.0, 2.0], [2.5, -1.0, 1.0]], np.float32)


def log_density(x, loc, scale):
    return (-(((x - loc) / scale) ** 2) / 2 - np.log(np.abs(scale) * math.sqrt(2 * math.pi))).sum(
        -1
    )


def run(tensors):
    with tf.Session() as session:
        return session.run(tensors)


def test_values_of_a_batch(graph):
    normal = MultivariateNormalDiag(LOC, SCALE)
    assert (normal.batch_shape.as_list(), normal.event_shape.as_list()) == ([2], [3])
    tensors = [normal.log_prob(X), normal.prob(X), normal.entropy(), normal.mean(), normal.mode()]
    log_prob, prob, entropy, mean, mode = run(tensors)
    expected = log_density(X, LOC, SCALE)
    np.testing.assert_allclose(log_prob, expected, rtol=1e-5)
    np.testing.assert_allclose(prob, np.exp(expected), rtol=1e-5)
    determinant = (2 * math.pi * math.e) ** 3 * np.prod(SCALE**2)
    np.testing.assert_allclose(entropy, [math.log(determinant) / 2] * 2, rtol=1e-5)
    np.testing.assert_array_equal(mean, LOC)
    np.testing.assert_array_equal(mode, LOC)
    stddev, variance, covariance, scale = run(
        [normal.stddev(), normal.variance(), normal.covariance(), normal.scale.to_dense()]
    )
    np.testing.assert_array_equal(stddev, abs(SCALE))  # Without the batch, as it was.
    np.testing.assert_array_equal(variance, SCALE**2)
    np.testing.assert_array_equal(covariance, np.diag(SCALE**2))
    np.testing.assert_array_equal(scale, np.diag(SCALE))


@pytest.mark.parametrize(
    ("arguments", "loc", "scale"),
    [
        ({"loc": LOC}, LOC, [1, 1, 1]),
        ({"scale_diag": SCALE}, [0, 0, 0], SCALE),
        ({"loc": LOC[0], "scale_identity_multiplier": [1.0, 2.0]}, LOC[:1], [[1] * 3, [2] * 3]),
        ({"scale_diag": SCALE, "scale_identity_multiplier": 3.0}, [0, 0, 0], SCALE + 3),
        ({"loc": tf.zeros, "scale_diag": SCALE}, [0, 0, 0], SCALE),
    ],
)
def test_arguments_that_are_left_out(graph, arguments, loc, scale):
    if arguments.get("loc") is tf.zeros:  # Of a shape that is unknown before the session.
        arguments = {**arguments, "loc": tf.placeholder_with_default(np.zeros(3, "f"), None)}
    normal = MultivariateNormalDiag(**arguments)
    log_prob, sample = run([normal.log_prob(X[:1]), normal.sample([2, 5], seed=1)])
    loc, scale = np.array(loc), np.array(scale)
    np.testing.assert_allclose(log_prob, log_density(X[:1], loc, scale), rtol=1e-5)
    assert sample.shape[:2] == (2, 5)
    assert sample[0, 0].shape == np.broadcast_shapes(np.squeeze(loc).shape, scale.shape)


def test_samples_and_gradients(graph):
    tf.set_random_seed(1)
    loc = tf.constant(LOC)
    normal = MultivariateNormalDiag(loc, SCALE)
    sample = normal.sample(4000, seed=3)
    assert sample.shape.as_list() == [4000, 2, 3]
    values, gradient = run([sample, tf.gradients(sample, loc)[0]])
    np.testing.assert_allclose(values.mean(0), LOC, atol=0.15)
    np.testing.assert_allclose(values.std(0), np.abs([SCALE, SCALE]), rtol=0.05)
    np.testing.assert_array_equal(gradient, np.full_like(LOC, 4000))


def test_divergence(graph):
    a, b = MultivariateNormalDiag(LOC, SCALE), MultivariateNormalDiag(LOC + 1, [1.0, 2.0, 3.0])
    ratio = SCALE**2 / np.array([1, 4, 9])
    expected = 0.5 * (ratio + 1 / np.array([1, 4, 9]) - 1 - np.log(ratio)).sum()
    divergence, same, method = run(
        [
            tf.distributions.kl_divergence(a, b),
            tf.distributions.kl_divergence(a, a),
            a.kl_divergence(b),
        ]
    )
    np.testing.assert_allclose(divergence, [expected] * 2, rtol=1e-5)
    np.testing.assert_allclose(same, [0, 0], atol=1e-6)
    np.testing.assert_array_equal(method, divergence)


def test_scale_of_softplus_and_errors(graph):
    normal = MultivariateNormalDiagWithSoftplusScale(LOC, [0.0, 1.0, 2.0])
    expected = [math.log1p(math.exp(value)) for value in (0, 1, 2)]
    np.testing.assert_allclose(run(normal.stddev()), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="unless loc or scale_diag"):
        MultivariateNormalDiag(scale_identity_multiplier=2.0)
    scale = tf.placeholder_with_default([0.0, 1.0], [2])
    checked = MultivariateNormalDiag(scale_diag=scale, validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scale has zeros"):
        run(checked.log_prob([0.0, 0.0]))
