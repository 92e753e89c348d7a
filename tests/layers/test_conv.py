import inspect

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

RANDOM = np.random.RandomState(0)
# Float64 where gradients are compared with differences.
IMAGES = RANDOM.normal(size=[2, 9, 8, 3])


@pytest.mark.parametrize(
    ("kernel", "settings"),
    [
        (1, {}),
        ([3, 2], {"stride": 2}),
        (3, {"stride": [2, 1], "padding": "valid"}),
        (3, {"rate": 2}),
        (3, {"rate": [2, 3], "padding": "VALID"}),
    ],
)
def test_conv2d_equals_numpy(convolved, evaluate, kernel, settings):
    outputs = layers.conv2d(tf.constant(IMAGES), 5, kernel, activation_fn=None, **settings)
    weights, biases = tf.global_variables()
    weights, biases, values = evaluate(weights, biases, outputs)
    height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
    assert weights.shape == (height, width, 3, 5)
    assert weights.dtype == np.float64
    settings = {**settings, "padding": settings.get("padding", "SAME").upper()}
    np.testing.assert_allclose(values, convolved(IMAGES, weights, **settings), atol=1e-10)
    assert outputs.shape == values.shape
    assert not biases.any()


@pytest.mark.parametrize("settings", [{"stride": 2}, {"rate": 2}, {"rate": [1, 3]}])
def test_gradients_equal_finite_differences(convolved, evaluate, differences, settings):
    images = IMAGES[:1, :5, :4, :2]
    inputs = tf.constant(images)
    outputs = layers.conv2d(inputs, 2, 2, activation_fn=None, **settings)
    weights = tf.global_variables()[0]
    gradients = tf.gradients(tf.reduce_sum(outputs**2), [inputs, weights])
    weights, by_inputs, by_weights = evaluate(weights, *gradients)

    def loss(images, weights):
        return np.sum(convolved(images, weights, **settings) ** 2)

    wanted = differences(lambda value: loss(value, weights), images)
    np.testing.assert_allclose(by_inputs, wanted, atol=1e-6)
    wanted = differences(lambda value: loss(images, value), weights)
    np.testing.assert_allclose(by_weights, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "inputs", "settings"),
    [
        (layers.conv1d, RANDOM.normal(size=[2, 7, 3]), {"stride": 2}),
        (layers.convolution, RANDOM.normal(size=[2, 7, 3]), {"rate": 2}),
        (layers.conv3d, RANDOM.normal(size=[1, 4, 5, 3, 2]), {"stride": [1, 2, 1]}),
        (layers.convolution, RANDOM.normal(size=[1, 4, 5, 3, 2]), {"rate": 2}),
    ],
)
def test_other_ranks_equal_numpy(convolved, evaluate, function, inputs, settings):
    outputs = function(inputs, 2, 2, activation_fn=None, **settings)
    weights, outputs = evaluate(tf.global_variables()[0], outputs)
    np.testing.assert_allclose(outputs, convolved(inputs, weights, **settings), atol=1e-10)


def test_causal_outputs_see_no_later_inputs(convolved, evaluate):
    series = RANDOM.normal(size=[2, 7, 3])
    outputs = layers.conv1d(series, 4, 3, rate=2, padding="CAUSAL", activation_fn=None)
    weights, outputs = evaluate(tf.global_variables()[0], outputs)
    padded = np.pad(series, [(0, 0), (4, 0), (0, 0)])
    expected = convolved(padded, weights, rate=2, padding="VALID")
    np.testing.assert_allclose(outputs, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("shape", "data_format", "settings"),
    [
        ([2, 5, 6, 3], "NCHW", {"stride": 2}),
        ([2, 5, 6, 3], "NCHW", {"rate": [2, 1], "padding": "VALID"}),
        ([2, 7, 3], "NCW", {"padding": "CAUSAL"}),
        ([1, 3, 4, 5, 2], "NCDHW", {"stride": [1, 2, 2]}),
    ],
)
def test_channels_first_are_the_same_variables_and_shapes(shape, data_format, settings):
    """By shape and op only: TensorFlow's CPU kernels know no channels first without oneDNN."""
    last = layers.convolution(tf.zeros(shape), 4, 2, scope="layer", **settings)
    before = [(v.op.name, v.shape.as_list()) for v in tf.global_variables()]
    moved = [shape[0], shape[-1], *shape[1:-1]]
    first = layers.convolution(
        tf.zeros(moved), 4, 2, scope="layer", reuse=True, data_format=data_format, **settings
    )
    sizes = last.shape.as_list()
    assert first.shape.as_list() == [sizes[0], 4, *sizes[1:-1]]
    assert [(v.op.name, v.shape.as_list()) for v in tf.global_variables()] == before
    products = [op for op in tf.get_default_graph().get_operations() if "Conv" in op.type]
    formats = [op.get_attr("data_format").decode() for op in products]
    assert [text[1] == "C" for text in formats] == [False, True]


CONVOLUTIONS = [layers.conv2d, layers.conv2d_transpose, layers.separable_conv2d]


@pytest.mark.parametrize(
    ("convolve", "settings"),
    [(layers.conv2d, {"rate": [2, 1]}), *((each, {"stride": 2}) for each in CONVOLUTIONS[1:])],
)
def test_channels_first_equal_channels_last(evaluate_channels_first, convolve, settings):
    settings = {"biases_initializer": tf.ones_initializer(), "scope": "layer", **settings}
    images = IMAGES.astype(np.float32)
    last = convolve(images, 4, 2, **settings)
    moved = images.transpose(0, 3, 1, 2)
    first = convolve(moved, 4, 2, data_format="NCHW", reuse=True, **settings)
    last, first = evaluate_channels_first(last, first)
    np.testing.assert_allclose(first, last.transpose(0, 3, 1, 2), atol=1e-5)


def test_dilation_goes_through_space_to_batch():
    """Not every CPU has the gradient of the kernel's own dilations."""
    layers.conv2d(IMAGES, 4, 3, rate=[2, 3])
    operations = {op.type: op for op in tf.get_default_graph().get_operations()}
    blocks = tf.get_static_value(operations["SpaceToBatchND"].inputs[1])
    assert blocks.tolist() == [2, 3]
    assert list(operations["Conv2D"].get_attr("dilations")) == [1, 1, 1, 1]


def test_biases_come_after_the_product_and_before_the_activation(evaluate):
    outputs = layers.conv2d(
        IMAGES, 2, 1, biases_initializer=tf.constant_initializer([-100.0, 100.0])
    )
    (outputs,) = evaluate(outputs)
    assert not outputs[..., 0].any()
    assert outputs[..., 1].min() > 50


@pytest.mark.parametrize("convolve", CONVOLUTIONS)
def test_normalizer_takes_the_place_of_biases_before_the_activation(evaluate, convolve):
    outputs = convolve(
        IMAGES,
        4,
        1,
        normalizer_fn=lambda x, shift, sign: sign * x - shift,
        normalizer_params={"shift": 100.0, "sign": -1.0},
    )
    convolve(IMAGES, 4, 1, biases_initializer=None)
    assert not [v for v in tf.global_variables() if v.op.name.endswith("biases")]
    assert not evaluate(outputs)[0].any()


def test_unknown_sizes_are_fine(evaluate):
    images = tf.placeholder(tf.float32, [None, None, None, 3])
    outputs = layers.conv2d(images, 4, 3, stride=2)
    assert outputs.shape.as_list() == [None, None, None, 4]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs, {images: IMAGES}).shape == (2, 5, 4, 4)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="stride 2 with rate 3"):
        layers.conv2d(IMAGES, 3, 3, stride=2, rate=3)
    with pytest.raises(ValueError, match="Invalid data_format: 'CHWN'"):
        layers.conv2d(IMAGES, 3, 3, data_format="CHWN")
    with pytest.raises(ValueError, match="expects input with rank 3, got 4"):
        layers.conv1d(IMAGES, 3, 3)
    with pytest.raises(ValueError, match="not supported for input with rank 2"):
        layers.convolution(IMAGES[0, 0], 3, 3)
    with pytest.raises(ValueError, match="padding is 'CAUSAL'; in 2-D"):
        layers.conv2d(IMAGES, 3, 3, padding="CAUSAL")
    with pytest.raises(ValueError, match="sequence of 2 positive integers"):
        layers.conv2d(IMAGES, 3, [3, 3, 3])
    with pytest.raises(ValueError, match="must be known"):
        layers.conv2d(tf.placeholder(tf.float32, [1, 4, 4, None]), 3, 3)


def test_a_convolution_of_one_rank_has_the_signature_without_conv_dims():
    general = list(inspect.signature(layers.convolution).parameters)
    assert general.pop() == "conv_dims"
    assert list(inspect.signature(layers.conv2d).parameters) == general
    assert layers.conv2d is layers.convolution2d
    with pytest.raises(TypeError, match="conv_dims"):
        layers.conv2d(IMAGES, 3, 3, conv_dims=1)
    with layers.arg_scope([layers.convolution], stride=2):  # is another function
        assert layers.conv2d(IMAGES, 1, 1).shape[1:3] == [9, 8]
