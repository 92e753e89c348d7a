import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

IMAGES = np.random.RandomState(0).normal(3, 2, size=[2, 3, 2, 4])


def normalised_over(x, axes, epsilon=1e-6):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@pytest.mark.parametrize(("begin_norm_axis", "begin_params_axis"), [(1, -1), (-1, -1), (2, 2)])
def test_each_example_is_normalised_from_an_axis_on(begin_norm_axis, begin_params_axis, evaluate):
    outputs = layers.layer_norm(
        tf.constant(IMAGES), begin_norm_axis=begin_norm_axis, begin_params_axis=begin_params_axis
    )
    axes = tuple(range(begin_norm_axis % 4, 4))
    np.testing.assert_allclose(evaluate(outputs)[0], normalised_over(IMAGES, axes, 0))
    assert {tuple(v.shape) for v in tf.global_variables()} == {IMAGES.shape[begin_params_axis:]}


def test_half_floats_have_a_larger_epsilon(evaluate):
    (result,) = evaluate(layers.layer_norm(tf.ones([2, 3], tf.float16)))
    assert result.tolist() == [[0, 0, 0]] * 2


def test_inputs_that_layer_norm_and_instance_norm_do_not_support_are_refused():
    with pytest.raises(ValueError, match="undefined rank"):
        layers.layer_norm(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match=r"must be < rank\(inputs\) \(4\)"):
        layers.layer_norm(tf.constant(IMAGES), begin_norm_axis=4)
    with pytest.raises(ValueError, match=r"\[-1:\] is not fully defined"):
        layers.layer_norm(tf.placeholder(tf.float32, [2, None]))
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
        layers.instance_norm(tf.constant(IMAGES), data_format="NDHWC")
    with pytest.raises(ValueError, match="undefined channels dimension"):
        layers.instance_norm(tf.placeholder(tf.float32, [2, 3, 3, None]))


RGB = np.random.RandomState(0).normal(3, 2, size=[2, 3, 4, 3])
NORMALISED_RGB = normalised_over(RGB, (1, 2))


def test_channels_of_an_example_are_normalised_whether_first_or_last(evaluate):
    gammas = {"gamma": tf.constant_initializer([1.0, 2.0, 3.0])}
    last = layers.instance_norm(tf.constant(RGB), param_initializers=gammas)
    first = layers.instance_norm(
        tf.constant(RGB.transpose(0, 3, 1, 2)), param_initializers=gammas, data_format="NCHW"
    )
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, NORMALISED_RGB * [1, 2, 3])
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), NORMALISED_RGB * [1, 2, 3])


def grouped_and_normalised(x):
    """In two groups of two channels each."""
    return normalised_over(x.reshape(2, 3, 2, 2, 2), (1, 2, 4)).reshape(2, 3, 2, 4)


@pytest.mark.parametrize("in_one_pass", [False, True])
def test_groups_of_channels_are_normalised_whether_first_or_last(in_one_pass, evaluate):
    gammas = {"gamma": tf.constant_initializer([1.0, 2.0, 3.0, 4.0])}
    options = {"param_initializers": gammas, "mean_close_to_zero": in_one_pass}
    inputs = tf.placeholder_with_default(IMAGES, [None, 3, 2, 4])
    last = layers.group_norm(inputs, 2, **options)
    turned = tf.transpose(inputs, [0, 3, 1, 2])
    first = layers.group_norm(turned, 2, channels_axis=-3, reduction_axes=(-2, -1), **options)
    assert last.shape.as_list() == [None, 3, 2, 4]
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, grouped_and_normalised(IMAGES) * [1, 2, 3, 4], rtol=1e-6)
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), last)


@pytest.mark.parametrize(
    ("layer", "options", "scope", "normalised"),
    [
        (layers.layer_norm, {}, "LayerNorm", lambda x: normalised_over(x, (1, 2, 3), 0)),
        (layers.instance_norm, {}, "InstanceNorm", lambda x: normalised_over(x, (1, 2))),
        (layers.group_norm, {"groups": 2}, "GroupNorm", grouped_and_normalised),
    ],
)
def test_gradients_equal_finite_differences(
    differences, evaluate, layer, options, scope, normalised
):
    slope = np.random.RandomState(1).normal(size=IMAGES.shape)
    inputs = tf.constant(IMAGES)
    outputs = layer(inputs, activation_fn=lambda x: x * slope, **options)
    beta, gamma = tf.trainable_variables()
    assert (beta.op.name, gamma.op.name) == (f"{scope}/beta", f"{scope}/gamma")
    by_inputs, by_gamma = evaluate(*tf.gradients(outputs, [inputs, gamma]))
    numeric = differences(lambda x: np.sum(slope * normalised(x)), IMAGES)
    np.testing.assert_allclose(by_inputs, numeric, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(by_gamma, (slope * normalised(IMAGES)).sum((0, 1, 2)))


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


def test_vectors_along_an_axis_get_length_1(evaluate, differences):
    values = np.random.RandomState(0).normal(size=[2, 3, 2])

    def normed(x):
        return x / np.sqrt((x**2).sum(1, keepdims=True) + 1e-7)

    inputs = tf.constant(values)
    outputs = layers.unit_norm(inputs, 1)
    slope = np.arange(12.0).reshape(2, 3, 2)
    result, gradient = evaluate(outputs, tf.gradients(outputs * slope, inputs)[0])
    np.testing.assert_allclose(result, normed(values))
    np.testing.assert_allclose(
        gradient, differences(lambda x: np.sum(slope * normed(x)), values), rtol=1e-5, atol=1e-7
    )


def test_an_axis_that_is_not_there_is_refused():
    for dim in (-1, 2):
        with pytest.raises(ValueError, match="smaller than the input rank"):
            layers.unit_norm(tf.zeros([2, 2]), dim)
    with pytest.raises(ValueError, match="rank must be known"):
        layers.unit_norm(tf.placeholder(tf.float32), 0)
