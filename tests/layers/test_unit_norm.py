import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_vectors_along_an_axis_get_length_1(evaluate, differences):
    values = np.random.RandomState(0).normal(size=[2, 3, 2])

    def normed(x):
        return x / np.sqrt((x**2).sum(1, keepdims=True) + 1e-7)

    with tf.Graph().as_default():
        inputs = tf.constant(values)
        outputs = layers.unit_norm(inputs, 1)
        slope = np.arange(12.0).reshape(2, 3, 2)
        result, gradient = evaluate(outputs, tf.gradients(outputs * slope, inputs)[0])
    np.testing.assert_allclose(result, normed(values))
    np.testing.assert_allclose(
        gradient, differences(lambda x: np.sum(slope * normed(x)), values), rtol=1e-5, atol=1e-7
    )


def test_an_axis_that_is_not_there_is_refused():
    with tf.Graph().as_default():
        for dim in (-1, 2):
            with pytest.raises(ValueError, match="smaller than the input rank"):
                layers.unit_norm(tf.zeros([2, 2]), dim)
        with pytest.raises(ValueError, match="rank must be known"):
            layers.unit_norm(tf.placeholder(tf.float32), 0)
