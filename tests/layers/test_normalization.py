import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


@pytest.fixture(autouse=True)
def graph(variable_mode):
    with tf.Graph().as_default():
        yield


@pytest.fixture
def inputs():
    return np.random.RandomState(0).normal(3, 2, size=[4, 5, 6, 3]).astype(np.float32)


def names(collection):
    return [variable.op.name for variable in tf.get_collection(collection)]


def test_training_uses_the_batch_and_updates_the_moving_values(inputs):
    outputs = layers.batch_norm(tf.constant(inputs), is_training=True, decay=0.75, epsilon=1e-3)
    mean, variance = inputs.mean(axis=(0, 1, 2)), inputs.var(axis=(0, 1, 2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        result = session.run(outputs)
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        moving = {v.op.name: session.run(v) for v in tf.global_variables()}
    np.testing.assert_allclose(result, (inputs - mean) / np.sqrt(variance + 1e-3), atol=1e-4)
    count = inputs[..., 0].size
    unbiased = variance * count / (count - 1)
    np.testing.assert_allclose(moving["BatchNorm/moving_mean"], 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(
        moving["BatchNorm/moving_variance"], 0.75 + 0.25 * unbiased, rtol=1e-5
    )


def test_inference_uses_the_moving_values(inputs):
    outputs = layers.batch_norm(tf.constant(inputs), is_training=False, scale=True, epsilon=0.5)
    values = {
        "BatchNorm/gamma": np.array([1.0, 2.0, 3.0]),
        "BatchNorm/beta": np.array([0.5, 0.0, -1.0]),
        "BatchNorm/moving_mean": np.array([3.0, 2.0, 1.0]),
        "BatchNorm/moving_variance": np.array([4.0, 1.0, 2.0]),
    }
    assign = [tf.assign(v, values[v.op.name].astype(np.float32)) for v in tf.global_variables()]
    with tf.Session() as session:
        session.run(assign)
        result = session.run(outputs)
    gamma, beta, mean, variance = values.values()
    expected = gamma * (inputs - mean) / np.sqrt(variance + 0.5) + beta
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


def test_gradients_equal_finite_differences(inputs):
    """A linear loss of the outputs, against central differences of NumPy's batch norm."""
    inputs = inputs[:2, :2, :2, :1].astype(np.float64)
    slope = np.random.RandomState(1).normal(size=inputs.shape)

    def loss(x):
        return np.sum(slope * (x - x.mean()) / np.sqrt(x.var() + 1e-3))

    images = tf.constant(inputs.astype(np.float32))
    outputs = layers.batch_norm(images, is_training=True, scale=True, epsilon=1e-3)
    total = tf.reduce_sum(outputs * slope.astype(np.float32))
    wanted = [images, *tf.trainable_variables()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        by_images, by_gamma, by_beta = session.run(tf.gradients(total, wanted))
    numeric = np.zeros_like(inputs)
    for index in np.ndindex(inputs.shape):
        step = np.zeros_like(inputs)
        step[index] = 1e-5
        numeric[index] = (loss(inputs + step) - loss(inputs - step)) / 2e-5
    np.testing.assert_allclose(by_images, numeric, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(by_gamma, [loss(inputs)], rtol=1e-4)
    np.testing.assert_allclose(by_beta, [slope.sum()], rtol=1e-4)


def test_variables_of_a_convolution_with_batch_norm():
    layers.conv2d(
        tf.zeros([1, 2, 2, 1]),
        3,
        1,
        normalizer=lambda x: layers.batch_norm(x, is_training=True, scale=True),
        scope="conv",
    )
    norm = [f"conv/BatchNorm/{n}" for n in ("gamma", "beta", "moving_mean", "moving_variance")]
    assert names(tf.GraphKeys.MODEL_VARIABLES) == ["conv/weights", *norm]
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == ["conv/weights", *norm[:2]]


def test_center_and_scale_can_be_left_out():
    images = tf.zeros([1, 2, 2, 1])
    layers.batch_norm(images, is_training=False, center=False, scope="none")
    layers.batch_norm(images, is_training=False, scope="slims_default")
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == ["slims_default/beta"]


def test_activation_is_applied_last(inputs):
    outputs = layers.batch_norm(tf.constant(inputs), is_training=True, activation=tf.nn.relu)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).min() == 0
