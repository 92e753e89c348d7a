import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

RANDOM = np.random.RandomState(0)
IMAGES = np.random.RandomState(0).normal(size=[2, 3, 4, 5]).astype(np.float32)


@pytest.mark.parametrize("shape", [[4, 3], [2, 5, 3], [2, 1, 4, 3]])
def test_the_last_dimension_is_multiplied(evaluate, variable_mode, shape):
    inputs = RANDOM.normal(size=shape)
    outputs = layers.fully_connected(
        inputs, 6, activation_fn=None, biases_initializer=tf.constant_initializer(2.0)
    )
    weights, biases = tf.global_variables()
    assert [weights.op.name, biases.op.name] == [
        "fully_connected/weights",
        "fully_connected/biases",
    ]
    weights, values = evaluate(weights, outputs)
    np.testing.assert_allclose(values, inputs @ weights + 2.0, atol=1e-10)
    assert outputs.shape == values.shape
    outputs = layers.fully_connected(tf.placeholder(tf.float32, [*[None] * (len(shape) - 1), 3]), 4)
    assert outputs.shape.as_list() == [*[None] * (len(shape) - 1), 4]


def test_gradients_equal_their_formula(evaluate):
    """For the half sum of squares: `inputs^T @ outputs`, and the sum of outputs."""
    inputs = RANDOM.normal(size=[2, 5, 3])
    outputs = layers.fully_connected(inputs, 4, activation_fn=None)
    gradients = tf.gradients(tf.nn.l2_loss(outputs), tf.global_variables())
    values, by_weights, by_biases = evaluate(outputs, *gradients)
    wanted = np.einsum("bti,bto->io", inputs, values)
    np.testing.assert_allclose(by_weights, wanted, atol=1e-10)
    np.testing.assert_allclose(by_biases, values.sum((0, 1)), atol=1e-10)


def test_activation_and_normalizer(evaluate):
    inputs = RANDOM.normal(size=[8, 3])
    rectified = layers.relu(inputs, 4)
    linear = layers.linear(inputs, 4)
    six = layers.relu6(100 * inputs, 4)
    elu = layers.elu(inputs, 4)
    normalised = layers.fully_connected(inputs, 4, normalizer_fn=lambda x: x - 100.0, scope="n")
    assert [v.op.name for v in tf.global_variables()][-1] == "n/weights"
    rectified, linear, six, elu, normalised = evaluate(rectified, linear, six, elu, normalised)
    assert (rectified.min(), six.max(), normalised.max()) == (0, 6, 0)
    assert linear.min() < -1 < elu.min() < 0


@pytest.mark.parametrize(
    ("layer", "inputs", "options", "message"),
    [
        (layers.linear, IMAGES, {"num_outputs": 4.0}, "type should be one of .*, got .*float"),
        (layers.linear, np.zeros(3), {"num_outputs": 4}, "rank of shape must be at least 2 not: 1"),
        (layers.linear, [2, None], {"num_outputs": 4}, "must be known"),
        (layers.bias_add, IMAGES, {"data_format": "NWC"}, "has to be either NCHW or NHWC"),
        (layers.bias_add, IMAGES[0], {"data_format": "NCHW"}, "NCHW only supports 4D Tensor"),
        (layers.bias_add, [2, None], {}, "`C` dimension must be known but is None"),
        (layers.bias_add, None, {}, "Dims of shape must be known but is None"),
    ],
)
def test_what_does_not_fit_is_refused(layer, inputs, options, message):
    if not isinstance(inputs, np.ndarray):
        inputs = tf.placeholder(tf.float32, inputs)
    with pytest.raises(ValueError, match=message):
        layer(inputs, **options)


def test_every_channel_has_its_bias(evaluate, variable_mode):
    values = np.arange(5, dtype=np.float32)
    last = layers.bias_add(IMAGES, initializer=tf.constant_initializer(values))
    first = layers.bias_add(
        IMAGES, initializer=tf.constant_initializer(values[:3]), data_format="NCHW"
    )
    assert [v.op.name for v in tf.global_variables()] == ["BiasAdd/biases", "BiasAdd_1/biases"]
    last, first = evaluate(last, first)
    np.testing.assert_allclose(last, IMAGES + values)
    np.testing.assert_allclose(first, IMAGES + values[:3, None, None])


def test_as_a_normalizer_with_penalty_collections_and_activation(evaluate):
    outputs = layers.conv2d(
        IMAGES,
        2,
        1,
        activation_fn=None,
        normalizer_fn=layers.bias_add,
        normalizer_params={
            "initializer": tf.constant_initializer(-100.0),
            "regularizer": layers.l1_regularizer(0.5),
            "activation_fn": tf.nn.relu,
            "variables_collections": {"biases": ["of_biases"]},
            "outputs_collections": "ends",
        },
    )
    (biases,) = tf.get_collection("of_biases")
    assert biases.op.name == "Conv/BiasAdd/biases"
    assert list(layers.convert_collection_to_dict("ends").items()) == [("Conv/BiasAdd", outputs)]
    (penalty,) = tf.losses.get_regularization_losses()
    outputs, penalty = evaluate(outputs, penalty)
    assert not outputs.any()
    assert penalty == 100


@pytest.mark.parametrize("batch", [16, 8])
def test_large_weights_have_a_quicker_gradient_with_the_same_values(evaluate, batch):
    inputs = tf.constant(RANDOM.normal(size=[batch, 1000]).astype(np.float32))
    outputs = layers.fully_connected(inputs, 1000, activation_fn=None)
    (weights, _) = tf.trainable_variables()
    found = tf.gradients(tf.nn.l2_loss(outputs), [inputs, weights])
    values, kernel, *found = evaluate(outputs, weights, *found)
    np.testing.assert_allclose(found[0], values @ kernel.T, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found[1], evaluate(inputs)[0].T @ values, rtol=1e-3, atol=1e-3)
    names = [op.name for op in tf.get_default_graph().get_operations() if op.type == "Transpose"]
    assert bool(names) == (batch == 16)


def test_on_a_gpu_large_weights_have_the_usual_gradient():
    with tf.device("/device:GPU:0"):
        inputs = tf.zeros([16, 1000])
        outputs = layers.fully_connected(inputs, 1000, activation_fn=None)
    tf.gradients(tf.nn.l2_loss(outputs), inputs)
    assert not [op for op in tf.get_default_graph().get_operations() if op.type == "Transpose"]
