"""The two classifiers and the easy data that model_deploy was tested with."""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def fully_connected(inputs, units, *, regularizer=None, activation=None):
    with tf.variable_scope("fully_connected"):
        weights = tf.get_variable("weights", [inputs.shape[-1], units], regularizer=regularizer)
        biases = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
        outputs = tf.matmul(inputs, weights) + biases
        return outputs if activation is None else activation(outputs, name="Sigmoid")


def logistic_classifier(inputs, labels):
    with tf.variable_scope("LogisticClassifier"):
        predictions = fully_connected(inputs, 1, activation=tf.sigmoid)
        tf.losses.log_loss(labels, predictions)
        return predictions


def batch_norm_classifier(inputs, labels):
    with tf.variable_scope("BatchNormClassifier"):
        rows = layers.batch_norm(inputs[:, None, None, :], is_training=True, decay=0.1)
        predictions = fully_connected(rows[:, 0, 0, :], 1, activation=tf.sigmoid)
        tf.losses.log_loss(labels, predictions)
        return predictions


def regularized_layer():
    return fully_connected(tf.ones([10, 20]), 30, regularizer=layers.l2_regularizer(0.001))


def _easy_data():
    """16 rows with a one in the first two of four columns for label 0, in the last two for 1."""
    random = np.random.RandomState(0)
    labels = random.randint(0, 2, (16, 1)).astype(np.float32)
    columns = (2 * labels[:, 0] + random.randint(0, 2, 16)).astype(int)
    return np.eye(4, dtype=np.float32)[columns], labels


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(0)
        yield graph


@pytest.fixture
def models():
    return types.SimpleNamespace(
        logistic=logistic_classifier,
        batch_norm=batch_norm_classifier,
        regularized=regularized_layer,
        data=_easy_data(),
    )
