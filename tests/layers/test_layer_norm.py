import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

INPUTS = np.random.RandomState(0).normal(3, 2, size=[2, 3, 2, 4])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(("begin_norm_axis", "begin_params_axis"), [(1, -1), (-1, -1), (2, 2)])
def test_each_example_is_normalised_from_an_axis_on(begin_norm_axis, begin_params_axis, evaluate):
    outputs = layers.layer_norm(
        tf.constant(INPUTS), begin_norm_axis=begin_norm_axis, begin_params_axis=begin_params_axis
    )
    axes = tuple(range(begin_norm_axis % 4, 4))
    mean, variance = INPUTS.mean(axes, keepdims=True), INPUTS.var(axes, keepdims=True)
    np.testing.assert_allclose(evaluate(outputs)[0], (INPUTS - mean) / np.sqrt(variance))
    assert {tuple(v.shape) for v in tf.global_variables()} == {INPUTS.shape[begin_params_axis:]}


def test_gradients_equal_finite_differences(variable_mode, differences, evaluate):
    slope = np.random.RandomState(1).normal(size=INPUTS.shape)

    def loss(x):
        axes = (1, 2, 3)
        x = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True))
        return np.sum(slope * x)

    inputs = tf.constant(INPUTS)
    outputs = layers.layer_norm(inputs, activation_fn=lambda x: x * slope)
    beta, gamma = tf.trainable_variables()
    by_inputs, by_gamma = evaluate(*tf.gradients(outputs, [inputs, gamma]))
    np.testing.assert_allclose(by_inputs, differences(loss, INPUTS), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(by_gamma.sum(), loss(INPUTS))
    assert (beta.op.name, gamma.op.name) == ("LayerNorm/beta", "LayerNorm/gamma")


def test_half_floats_have_a_larger_epsilon(evaluate):
    (result,) = evaluate(layers.layer_norm(tf.ones([2, 3], tf.float16)))
    assert result.tolist() == [[0, 0, 0]] * 2


def test_what_cannot_be_normalised_is_refused():
    with pytest.raises(ValueError, match="undefined rank"):
        layers.layer_norm(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match=r"must be < rank\(inputs\) \(4\)"):
        layers.layer_norm(tf.constant(INPUTS), begin_norm_axis=4)
    with pytest.raises(ValueError, match=r"\[-1:\] is not fully defined"):
        layers.layer_norm(tf.placeholder(tf.float32, [2, None]))
