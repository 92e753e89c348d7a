import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def drawn(initializer, shape):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        return session.run(initializer(shape))


def test_truncated_normal_stays_within_two_deviations():
    values = drawn(layers.truncated_normal(0.1, mean=1.0), [100, 100])
    assert np.abs(values - 1).max() <= 0.2
    assert np.abs(values - 1).max() > 0.19


@pytest.mark.parametrize(
    ("initializer", "variance"),
    [
        (layers.variance_scaling(), 2 / 90),
        (layers.variance_scaling(1.0, "fan_out"), 1 / 360),
        (layers.xavier(), 2 / (90 + 360)),
    ],
)
def test_variance_follows_from_the_fans(initializer, variance):
    values = drawn(initializer, [3, 3, 10, 40])
    assert np.var(values) == pytest.approx(variance, rel=0.1)
