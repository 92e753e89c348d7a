import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

INPUTS = np.random.RandomState(0).normal(3, 2, size=[2, 3, 4, 3])
EXPECTED = (INPUTS - INPUTS.mean((1, 2), keepdims=True)) / np.sqrt(
    INPUTS.var((1, 2), keepdims=True) + 1e-6
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_channels_of_an_example_are_normalised_whether_first_or_last(evaluate):
    gammas = {"gamma": tf.constant_initializer([1.0, 2.0, 3.0])}
    last = layers.instance_norm(tf.constant(INPUTS), param_initializers=gammas)
    first = layers.instance_norm(
        tf.constant(INPUTS.transpose(0, 3, 1, 2)), param_initializers=gammas, data_format="NCHW"
    )
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, EXPECTED * [1, 2, 3])
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), EXPECTED * [1, 2, 3])


def test_gradients_equal_finite_differences(variable_mode, differences, evaluate):
    slope = np.random.RandomState(1).normal(size=INPUTS.shape)

    def loss(x):
        mean, variance = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
        return np.sum(slope * (x - mean) / np.sqrt(variance + 1e-6))

    inputs = tf.constant(INPUTS)
    outputs = layers.instance_norm(inputs, activation_fn=lambda x: x * slope, scope="norm")
    names = [v.op.name for v in tf.trainable_variables()]
    assert names == ["norm/beta", "norm/gamma"]
    by_inputs, by_gamma = evaluate(*tf.gradients(outputs, [inputs, tf.trainable_variables()[1]]))
    np.testing.assert_allclose(by_inputs, differences(loss, INPUTS), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(by_gamma, (slope * EXPECTED).sum((0, 1, 2)))


def test_what_cannot_be_normalised_is_refused():
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
        layers.instance_norm(tf.constant(INPUTS), data_format="NDHWC")
    with pytest.raises(ValueError, match="undefined channels dimension"):
        layers.instance_norm(tf.placeholder(tf.float32, [2, 3, 3, None]))
