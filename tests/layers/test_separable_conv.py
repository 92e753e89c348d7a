import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

IMAGES = np.random.RandomState(0).normal(size=[2, 9, 8, 3])


def shapes():
    return {v.op.name: v.shape.as_list() for v in tf.global_variables()}


@pytest.mark.parametrize(
    "settings", [{}, {"stride": 2}, {"rate": 2}, {"rate": [1, 3]}, {"padding": "VALID"}]
)
def test_depthwise_alone_equals_numpy(convolved, as_full, evaluate, settings):
    outputs = layers.separable_conv2d(
        IMAGES, None, [3, 2], depth_multiplier=2, activation_fn=None, **settings
    )
    assert shapes() == {
        "SeparableConv2d/depthwise_weights": [3, 2, 3, 2],
        "SeparableConv2d/biases": [6],
    }
    weights, values = evaluate(tf.global_variables()[0], outputs)
    expected = convolved(IMAGES, as_full(weights), **settings)
    np.testing.assert_allclose(values, expected, atol=1e-10)
    assert outputs.shape == values.shape


def test_pointwise_weights_mix_the_channels(convolved, as_full, evaluate):
    outputs = layers.separable_conv2d(IMAGES, 5, 3, 2, 2, activation_fn=None, scope="layer")
    assert shapes() == {
        "layer/depthwise_weights": [3, 3, 3, 2],
        "layer/pointwise_weights": [1, 1, 6, 5],
        "layer/biases": [5],
    }
    depthwise, pointwise, _ = tf.global_variables()
    depthwise, pointwise, outputs = evaluate(depthwise, pointwise, outputs)
    expected = convolved(IMAGES, as_full(depthwise), stride=2) @ pointwise[0, 0]
    np.testing.assert_allclose(outputs, expected, atol=1e-10)
    layers.separable_conv2d(IMAGES, None, 3, normalizer_fn=tf.identity, scope="normalised")
    assert list(shapes())[3:] == ["normalised/depthwise_weights"]


@pytest.mark.parametrize("settings", [{"stride": 2}, {"rate": 2}, {"rate": 3}])
def test_gradients_equal_finite_differences(convolved, as_full, evaluate, differences, settings):
    """The CPU kernel of depthwise convolution forgets its own dilations in the gradient."""
    images = IMAGES[:1, :5, :4, :2]
    outputs = layers.separable_conv2d(images, 2, 2, activation_fn=None, **settings)
    variables = tf.global_variables()[:2]
    gradients = tf.gradients(tf.reduce_sum(outputs**2), variables)
    depthwise, pointwise, by_depthwise, by_pointwise = evaluate(*variables, *gradients)

    def loss(depthwise, pointwise):
        return np.sum((convolved(images, as_full(depthwise), **settings) @ pointwise[0, 0]) ** 2)

    wanted = differences(lambda value: loss(value, pointwise), depthwise)
    np.testing.assert_allclose(by_depthwise, wanted, atol=1e-6)
    wanted = differences(lambda value: loss(depthwise, value), pointwise)
    np.testing.assert_allclose(by_pointwise, wanted, atol=1e-6)


def test_both_weights_pay_and_are_collected_as_weights_and_may_have_other_initializers(evaluate):
    layers.separable_conv2d(
        IMAGES,
        5,
        3,
        weights_initializer=tf.ones_initializer(),
        pointwise_initializer=tf.constant_initializer(2.0),
        weights_regularizer=layers.l2_regularizer(0.1),
        variables_collections={"weights": ["of_weights"], "biases": ["of_biases"]},
    )
    depthwise, pointwise, biases = tf.global_variables()
    assert len(tf.losses.get_regularization_losses()) == 2
    assert tf.get_collection("of_weights") == [depthwise, pointwise]
    assert tf.get_collection("of_biases") == [biases]
    depthwise, pointwise = evaluate(depthwise, pointwise)
    assert (np.unique(depthwise), np.unique(pointwise)) == (1, 2)


def test_channels_first_are_the_same_variables_and_shapes():
    """By shape only: TensorFlow's CPU kernels know no channels first without oneDNN."""
    for outputs in (None, 4):
        scope = f"layer_{outputs}"
        settings = {"depth_multiplier": 2, "stride": 2, "scope": scope}
        last = layers.separable_conv2d(tf.zeros([2, 5, 6, 3]), outputs, 3, **settings)
        first = layers.separable_conv2d(
            tf.zeros([2, 3, 5, 6]), outputs, 3, data_format="NCHW", reuse=True, **settings
        )
        batch, height, width, channels = last.shape.as_list()
        assert first.shape.as_list() == [batch, channels, height, width]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="stride 2 with rate 3"):
        layers.separable_conv2d(IMAGES, None, 3, stride=2, rate=3)
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
        layers.separable_conv2d(IMAGES, None, 3, data_format="NCW")
    with pytest.raises(ValueError, match="rank of shape must be at least 4"):
        layers.separable_conv2d(IMAGES[0], None, 3)


def test_in_plane_every_channel_has_the_same_kernel(evaluate):
    difference = tf.constant_initializer([-1.0, 1.0])
    outputs = layers.conv2d_in_plane(
        IMAGES, [1, 2], padding="VALID", activation_fn=None, weights_initializer=difference
    )
    assert shapes() == {"ConvInPlane/weights": [1, 2, 1, 1], "ConvInPlane/biases": [3]}
    expected = IMAGES[:, :, 1:] - IMAGES[:, :, :-1]
    np.testing.assert_allclose(evaluate(outputs)[0], expected, atol=1e-10)
