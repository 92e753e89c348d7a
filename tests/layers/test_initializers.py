import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

SHAPE = [3, 3, 10, 40]  # fans of 90 and 360
# Variance of a normal variable that is redrawn beyond two deviations.
CUT = 0.7737
# What slim multiplies the variance by, to make up for the cut.
SLIMS = 1.3


def drawn(initializer, shape, dtype=tf.float32):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        return session.run(initializer(shape, dtype))


@pytest.mark.parametrize(
    ("mode", "fan"), [("FAN_IN", 90), ("FAN_OUT", 360), ("FAN_AVG", (90 + 360) / 2)]
)
def test_moments_follow_from_the_fans(mode, fan):
    uniform = drawn(layers.variance_scaling_initializer(3.0, mode, uniform=True), SHAPE)
    limit = np.sqrt(3 * 3.0 / fan)
    assert np.abs(uniform).max() == pytest.approx(limit, rel=0.01)
    assert np.var(uniform) == pytest.approx(3.0 / fan, rel=0.03)
    normal = drawn(layers.variance_scaling_initializer(3.0, mode), SHAPE)
    deviation = np.sqrt(SLIMS * 3.0 / fan)
    assert np.abs(normal).max() == pytest.approx(2 * deviation, rel=0.001)
    assert np.var(normal) == pytest.approx(CUT * deviation**2, rel=0.03)
    for values in (uniform, normal):
        assert abs(values.mean()) < 4 * values.std() / np.sqrt(values.size)


@pytest.mark.parametrize("uniform", [True, False])
def test_xavier_scales_by_both_fans(uniform):
    values = drawn(layers.xavier_initializer(uniform=uniform, seed=1), SHAPE)
    same = drawn(
        layers.variance_scaling_initializer(1.0, "FAN_AVG", uniform=uniform, seed=1), SHAPE
    )
    np.testing.assert_array_equal(values, same)
    expected = 2 / (90 + 360) * (1 if uniform else SLIMS * CUT)
    assert np.var(values) == pytest.approx(expected, rel=0.03)
    assert layers.xavier_initializer_conv2d is layers.xavier_initializer
    for_rectifiers = drawn(layers.variance_scaling_initializer(), SHAPE)
    assert np.var(for_rectifiers) == pytest.approx(2 / 90 * SLIMS * CUT, rel=0.03)


@pytest.mark.parametrize(
    ("shape", "fans"), [([500], (500, 500)), ([20, 80], (20, 80)), ([], (1, 1))]
)
def test_fans_of_other_ranks(shape, fans):
    for mode, fan in zip(("FAN_IN", "FAN_OUT"), fans, strict=True):
        initializer = layers.variance_scaling_initializer(1.0, mode, uniform=True, seed=3)
        limit = np.sqrt(3 / fan)
        greatest = np.abs(drawn(initializer, shape)).max()
        assert greatest <= limit
        assert greatest > 0.9 * limit or not shape


def test_type_and_seed(evaluate):
    initializer = layers.xavier_initializer(seed=7, dtype=tf.float64)
    one = tf.get_variable("one", [4, 5], tf.float64, initializer)
    other = tf.get_variable("other", [4, 5], tf.float64, initializer)
    one, other = evaluate(one, other)
    assert one.dtype == np.float64
    np.testing.assert_array_equal(one, other)


def test_layers_start_from_xavier_and_zero(evaluate):
    tf.set_random_seed(0)
    layers.conv2d(tf.zeros([1, 4, 4, 10]), 40, 3)
    layers.fully_connected(tf.zeros([1, 90]), 360)
    layers.conv2d_transpose(tf.zeros([1, 4, 4, 40]), 10, 3)
    values = evaluate(*tf.global_variables())
    for weights, biases in zip(values[::2], values[1::2], strict=True):
        assert np.var(weights) == pytest.approx(2 / 450, rel=0.03)
        assert np.abs(weights).max() == pytest.approx(np.sqrt(6 / 450), rel=0.01)
        assert not biases.any()


def test_what_does_not_fit_is_refused():
    with pytest.raises(TypeError, match=r"Unknown mode FAN \[FAN_IN, FAN_OUT, FAN_AVG\]"):
        layers.variance_scaling_initializer(mode="FAN")
    with pytest.raises(TypeError, match="non-floating point type"):
        layers.xavier_initializer(dtype=tf.int32)
    with pytest.raises(TypeError, match="non-floating point type"):
        layers.xavier_initializer()([2, 2], tf.int64)
