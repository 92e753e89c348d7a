import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

INPUTS = np.random.RandomState(0).normal(3, 2, size=[2, 3, 2, 4])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def normalised(x):
    """In two groups of two channels each."""
    x = x.reshape(2, 3, 2, 2, 2)
    axes = (1, 2, 4)
    x = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-6)
    return x.reshape(2, 3, 2, 4)


@pytest.mark.parametrize("in_one_pass", [False, True])
def test_groups_of_channels_are_normalised_whether_first_or_last(in_one_pass, evaluate):
    gammas = {"gamma": tf.constant_initializer([1.0, 2.0, 3.0, 4.0])}
    options = {"param_initializers": gammas, "mean_close_to_zero": in_one_pass}
    inputs = tf.placeholder_with_default(INPUTS, [None, 3, 2, 4])
    last = layers.group_norm(inputs, 2, **options)
    first = layers.group_norm(
        tf.transpose(inputs, [0, 3, 1, 2]),
        2,
        channels_axis=-3,
        reduction_axes=(-2, -1),
        **options,
    )
    assert last.shape.as_list() == [None, 3, 2, 4]
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, normalised(INPUTS) * [1, 2, 3, 4], rtol=1e-6)
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), last)


def test_gradients_equal_finite_differences(variable_mode, differences, evaluate):
    slope = np.random.RandomState(1).normal(size=INPUTS.shape)
    inputs = tf.constant(INPUTS)
    outputs = layers.group_norm(inputs, 2, activation_fn=lambda x: x * slope)
    names = [v.op.name for v in tf.trainable_variables()]
    assert names == ["GroupNorm/beta", "GroupNorm/gamma"]
    by_inputs, by_gamma = evaluate(*tf.gradients(outputs, [inputs, tf.trainable_variables()[1]]))
    numeric = differences(lambda x: np.sum(slope * normalised(x)), INPUTS)
    np.testing.assert_allclose(by_inputs, numeric, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(by_gamma, (slope * normalised(INPUTS)).sum((0, 1, 2)))


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ([2, 3, 2, 4], {"groups": 8}, "Invalid groups 8 for 4 channels"),
        ([2, 3, 2, 4], {"groups": 3}, "4 channels is not commensurate with 3 groups"),
        ([2, 3, 2, 4], {"channels_axis": 4}, "Axis is out of bounds"),
        ([2, 3, 2, 4], {"channels_axis": -2}, "mutually exclusive"),
        ([2, None, 2, 4], {"groups": 2}, "undefined dimensions 1"),
        ([2, 3, 2, None], {"groups": 2}, "undefined channel dimension: 3"),
        (None, {}, "undefined rank"),
    ],
)
def test_what_cannot_be_grouped_is_refused(shape, options, message):
    with pytest.raises(ValueError, match=message):
        layers.group_norm(tf.placeholder(tf.float32, shape), **options)
