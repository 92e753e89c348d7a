import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_l2_is_half_the_scaled_sum_of_squares():
    penalty = layers.l2_regularizer(0.5)(tf.constant([[1.0, -2.0], [3.0, 0.0]]))
    with tf.Session() as session:
        assert session.run(penalty) == pytest.approx(0.5 * 14 / 2)


def test_scale_zero_makes_no_penalty():
    assert layers.l2_regularizer(0.0) is None


def test_negative_scale_is_refused():
    with pytest.raises(ValueError, match="-1"):
        layers.l2_regularizer(-1)


def test_clones_that_share_a_variable_pay_once(variable_mode):
    def clone():
        layers.conv2d(
            tf.ones([1, 2, 2, 1]), 2, 1, regularizer=layers.l2_regularizer(0.1), scope="conv"
        )

    clone()
    with tf.variable_scope("", reuse=True):
        clone()
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        clone()
    assert len(tf.global_variables()) == 2
    (penalty,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        weights, penalty = session.run([tf.global_variables()[0], penalty])
    assert penalty == pytest.approx(0.1 * np.sum(weights**2) / 2, rel=1e-5)
