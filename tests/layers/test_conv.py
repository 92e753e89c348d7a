import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def pad_same(inputs, kernel, stride, rate):
    """Pads as TensorFlow's SAME does: the odd pixel goes to the end."""
    reach = (kernel - 1) * rate + 1
    pads = [(0, 0)]
    for size in inputs.shape[1:3]:
        missing = max((-(-size // stride) - 1) * stride + reach - size, 0)
        pads.append((missing // 2, missing - missing // 2))
    return np.pad(inputs, [*pads, (0, 0)])


def reference(inputs, weights, *, stride=1, rate=1, padding="SAME"):
    """Convolves `[b, h, w, c]` with `[k, k, c, f]`, output by output."""
    kernel = weights.shape[0]
    reach = (kernel - 1) * rate + 1
    padded = pad_same(inputs, kernel, stride, rate) if padding == "SAME" else inputs
    rows = range(0, padded.shape[1] - reach + 1, stride)
    columns = range(0, padded.shape[2] - reach + 1, stride)
    outputs = np.zeros([len(inputs), len(rows), len(columns), weights.shape[3]])
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            window = padded[:, row : row + reach : rate, column : column + reach : rate]
            outputs[:, i, j] = np.tensordot(window, weights, axes=3)
    return outputs


def as_full(depthwise):
    """Turns `[k, k, c, m]` into the block-diagonal `[k, k, c, c * m]`."""
    kernel, _, channels, multiplier = depthwise.shape
    full = np.zeros([kernel, kernel, channels, channels * multiplier], depthwise.dtype)
    for channel in range(channels):
        part = slice(channel * multiplier, (channel + 1) * multiplier)
        full[:, :, channel, part] = depthwise[:, :, channel]
    return full


def names(collection):
    return [variable.op.name for variable in tf.get_collection(collection)]


def evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


@pytest.fixture
def inputs():
    return np.random.RandomState(0).normal(size=[2, 9, 8, 3]).astype(np.float32)


@pytest.mark.parametrize(
    ("kernel", "settings"),
    [
        (1, {}),
        (3, {"stride": 2}),
        (3, {"rate": 2}),
        (3, {"rate": 3, "padding": "VALID"}),
        (2, {"padding": "VALID"}),
    ],
)
def test_conv2d_equals_numpy(inputs, variable_mode, kernel, settings):
    outputs = layers.conv2d(tf.constant(inputs), 5, kernel, activation=None, scope="a", **settings)
    weights, biases = tf.global_variables()
    weights, biases, outputs = evaluate(weights, biases + 0.0, outputs)
    assert weights.shape == (kernel, kernel, 3, 5)
    np.testing.assert_allclose(outputs, reference(inputs, weights, **settings), atol=1e-5)
    assert not biases.any()


@pytest.mark.parametrize("settings", [{}, {"stride": 2}, {"rate": 2}, {"rate": 6}])
@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_conv2d_equals_numpy(inputs, variable_mode, settings, multiplier):
    outputs = layers.depthwise_conv2d(
        tf.constant(inputs), 3, multiplier=multiplier, activation=None, scope="a", **settings
    )
    weights, outputs = evaluate(tf.global_variables()[0], outputs)
    expected = reference(inputs, as_full(weights), **settings)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)


@pytest.mark.parametrize("rate", [1, 2, 3])
def test_gradients_see_the_rate(inputs, rate):
    """The CPU kernel of depthwise convolution forgets its dilations in the gradient."""
    outputs = [
        layers.depthwise_conv2d(tf.constant(inputs), 3, rate=rate, activation=None, scope="deep"),
        layers.conv2d(tf.constant(inputs), 2, 3, rate=rate, activation=None, scope="full"),
    ]
    for output, variable in zip(outputs, tf.global_variables()[::2], strict=True):
        gradient = tf.gradients(tf.reduce_sum(output**2), variable)[0]
        weights, gradient = evaluate(variable, gradient)
        full = weights if weights.shape[3] == 2 else as_full(weights)
        loss = np.sum(reference(inputs, full, rate=rate) ** 2)
        # The loss is quadratic in the weights, so 2 * loss = <gradient, weights>.
        np.testing.assert_allclose(np.sum(gradient * weights), 2 * loss, rtol=1e-4)


def test_names_and_collections_are_slims(variable_mode):
    inputs = tf.zeros([1, 4, 4, 2])
    with tf.variable_scope("net"):
        layers.conv2d(inputs, 3, 1, scope="a")
        layers.depthwise_conv2d(inputs, 3, scope="b", normalizer=tf.identity)
        layers.conv2d(inputs, 3, 1)
        layers.conv2d(inputs, 3, 1)
    expected = [
        "net/a/weights",
        "net/a/biases",
        "net/b/depthwise_weights",
        "net/Conv/weights",
        "net/Conv/biases",
        "net/Conv_1/weights",
        "net/Conv_1/biases",
    ]
    assert names(tf.GraphKeys.GLOBAL_VARIABLES) == expected
    assert names(tf.GraphKeys.MODEL_VARIABLES) == expected
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == expected
    types = {variable.op.type for variable in tf.global_variables()}
    assert types == {"VarHandleOp" if variable_mode == "resource" else "VariableV2"}


def test_normalizer_and_activation_come_in_this_order(inputs):
    outputs = layers.conv2d(
        tf.constant(inputs), 4, 1, normalizer=lambda x: x - 100.0, activation=tf.nn.relu, scope="a"
    )
    assert not evaluate(outputs)[0].any()


def test_relu_is_the_default(inputs):
    outputs = layers.conv2d(tf.constant(inputs), 4, 1, scope="a")
    linear = layers.conv2d(tf.constant(inputs), 4, 1, scope="b", activation=None)
    outputs, linear = evaluate(outputs, linear)
    assert outputs.min() == 0
    assert linear.min() < 0


def test_stride_with_rate_is_refused():
    with pytest.raises(ValueError, match="stride 2 with rate 3"):
        layers.conv2d(tf.zeros([1, 4, 4, 2]), 3, 3, stride=2, rate=3)
    with pytest.raises(ValueError, match="stride 2 with rate 3"):
        layers.depthwise_conv2d(tf.zeros([1, 4, 4, 2]), 3, stride=2, rate=3)


def test_unknown_sizes_are_fine(inputs):
    images = tf.placeholder(tf.float32, [None, None, None, 3])
    outputs = layers.conv2d(images, 4, 3, stride=2, scope="a")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs, {images: inputs}).shape == (2, 5, 4, 4)
