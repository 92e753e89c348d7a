"""tf.keras.layers that TensorFlow's part of Keras 2 lacks."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.keras import backend

from tf_frame_legacy import keras_backend
from tf_frame_legacy.keras_layers import BatchNormalization

pytestmark = pytest.mark.usefixtures("graph")

IMAGES = np.random.default_rng(0).normal(2.0, 3.0, [4, 3, 3, 2]).astype(np.float32)


def expected(values, mean, variance, gamma=1.0, beta=0.0):
    return gamma * (values - mean) / np.sqrt(variance + 1e-3) + beta


@pytest.mark.parametrize("fused", [None, False])
def test_statistics_of_the_batch_move_the_variables(fused):
    layer = BatchNormalization(momentum=0.9, fused=fused, gamma_initializer="ones")
    outputs = layer(tf.constant(IMAGES), training=True)
    rows = IMAGES.reshape(-1, 2)
    mean, variance = rows.mean(0), rows.var(0)
    # The fused kernel returns the variance of the sample.
    moved = variance * (36 / 35 if fused is None else 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, _ = session.run([outputs, layer.updates])
        np.testing.assert_allclose(values, expected(IMAGES, mean, variance), 1e-4, 1e-4)
        np.testing.assert_allclose(session.run(layer.moving_mean), 0.1 * mean, 1e-4)
        np.testing.assert_allclose(session.run(layer.moving_variance), 0.9 + 0.1 * moved, 1e-4)
    assert [v.op.name for v in layer.weights] == [
        f"batch_normalization/{name}"
        for name in ("gamma", "beta", "moving_mean", "moving_variance")
    ]
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


@pytest.mark.parametrize("shape", [[None, 3, 3, 2], [None, 2]])
def test_training_may_be_a_tensor_or_the_learning_phase(shape):
    training = tf.placeholder_with_default(False, [])
    inputs = tf.placeholder(tf.float32, shape)
    layer = BatchNormalization(
        beta_initializer=tf.constant_initializer(0.5), moving_variance_initializer="ones"
    )
    outputs = layer(inputs, training=training)
    backend.set_learning_phase(0)
    same = layer(inputs)
    assert outputs.shape.as_list() == shape
    batch = IMAGES.reshape([-1, *shape[1:]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kept = session.run([outputs, same, layer.updates], {inputs: batch})
        for value in kept[:2]:
            np.testing.assert_allclose(value, expected(batch, 0.0, 1.0, beta=0.5), 1e-4, 1e-4)
        np.testing.assert_array_equal(session.run(layer.moving_mean), [0.0, 0.0])
        session.run(layer.updates, {inputs: batch, training: True})
        mean = IMAGES.reshape(-1, 2).mean(0)
        np.testing.assert_allclose(session.run(layer.moving_mean), 0.01 * mean, 1e-4)


def test_configuration_and_arguments_that_are_not_supported():
    layer = BatchNormalization(axis=1, momentum=0.7, beta_regularizer="l2", name="norm")
    again = BatchNormalization.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    with pytest.raises(ValueError, match="not supported"):
        BatchNormalization(renorm=True)
    with pytest.raises(ValueError, match="has to be known"):
        BatchNormalization()(tf.placeholder(tf.float32, [2, None]))


def test_layers_of_keras_3_do_not_read_the_learning_phase(caplog):
    keras_backend.set_learning_phase(True)
    assert keras_backend.learning_phase() == 1
    assert "training=True" in caplog.text
    keras_backend.set_learning_phase(0)
    assert keras_backend.learning_phase() == 0
    with pytest.raises(ValueError, match="0 or 1"):
        keras_backend.set_learning_phase(2)
