import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

RANDOM = np.random.RandomState(0)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


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


def test_gradients_equal_their_formula(evaluate):
    """For the half sum of squares: `inputs^T @ outputs`, and the sum of outputs."""
    inputs = RANDOM.normal(size=[2, 5, 3])
    outputs = layers.fully_connected(inputs, 4, activation_fn=None)
    gradients = tf.gradients(tf.nn.l2_loss(outputs), tf.global_variables())
    values, by_weights, by_biases = evaluate(outputs, *gradients)
    wanted = np.einsum("bti,bto->io", inputs, values)
    np.testing.assert_allclose(by_weights, wanted, atol=1e-10)
    np.testing.assert_allclose(by_biases, values.sum((0, 1)), atol=1e-10)


def test_unknown_sizes_are_fine():
    for shape in ([None, 3], [None, None, 3]):
        outputs = layers.fully_connected(tf.placeholder(tf.float32, shape), 4)
        assert outputs.shape.as_list() == [*shape[:-1], 4]


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


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"num_outputs type should be one of .*, got .*float"):
        layers.fully_connected(tf.zeros([2, 3]), 4.0)
    with pytest.raises(ValueError, match="rank of shape must be at least 2 not: 1"):
        layers.fully_connected(tf.zeros([3]), 4)
    with pytest.raises(ValueError, match="must be known"):
        layers.fully_connected(tf.placeholder(tf.float32, [2, None]), 4)
