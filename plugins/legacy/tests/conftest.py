"""Models and data: the two classifiers that model_deploy was tested with, and a linear model."""

import contextlib
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import layers
from variable_modes import variable_mode_fixture


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


# Old trainers have reference variables; the code beneath the old names is tested with both.
variable_mode = variable_mode_fixture(on_demand="resource")


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
        tensors=lambda: tuple(map(tf.constant, _easy_data())),
    )


FEATURES = np.random.RandomState(0).randn(8, 3).astype(np.float32)
TARGETS = (FEATURES @ [[1.0], [-2.0], [0.5]] + 3.0).astype(np.float32)
L2 = 0.1


@pytest.fixture
def control_flow_of_v1():
    """Control flow of old programs, which call tf.disable_v2_behavior()."""
    tf.disable_control_flow_v2()
    yield
    tf.enable_control_flow_v2()


class Linear:
    """A linear model of 8 examples; its losses and steps are computed by hand.

    All examples are read in every step, so it does not matter which clone gets which.
    """

    features, targets, l2 = FEATURES, TARGETS, L2
    start = np.full([3, 1], 0.25, np.float32), np.zeros([1], np.float32)

    def add_loss(self, features, targets):
        """Builds it in the scope `linear`, with an update op that counts the steps."""
        with tf.variable_scope("linear"):
            weights = layers.model_variable(
                "weights",
                [3, 1],
                initializer=tf.constant_initializer(0.25),
                regularizer=layers.l2_regularizer(L2),
            )
            biases = layers.model_variable("biases", [1], initializer=tf.zeros_initializer())
            steps = layers.model_variable(
                "steps", [], initializer=tf.zeros_initializer(), trainable=False
            )
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(steps, 1.0))
        errors = tf.matmul(features, weights) + biases - targets
        tf.losses.add_loss(0.5 * tf.reduce_mean(tf.square(errors)))

    def loss(self, weights, biases, l2=L2):
        errors = FEATURES @ weights + biases - TARGETS
        return 0.5 * np.mean(errors**2) + l2 * 0.5 * np.sum(weights**2)

    def check_first_step(self, loss, *, rate, of_biases=1.0, l2=L2):
        """Checks the loss before the step, and the variables after it."""
        weights, biases = self.start
        errors = FEATURES @ weights + biases - TARGETS
        for_weights = FEATURES.T @ errors / len(errors) + l2 * weights
        assert loss == pytest.approx(self.loss(weights, biases, l2), rel=1e-5)
        now_weights, now_biases = tf.get_default_session().run(tf.trainable_variables())
        np.testing.assert_allclose(now_weights, weights - rate * for_weights, atol=1e-6)
        expected = biases - rate * of_biases * errors.mean(axis=0)
        np.testing.assert_allclose(now_biases, expected, atol=1e-6)
        assert tf.get_default_session().run(variable_called("linear/steps")) == 1.0

    def queue(self, rows, batch_size):
        """A queue of batches of these rows, in their order and for ever."""
        index = tf.train.range_input_producer(len(rows), shuffle=False).dequeue()
        row = tf.gather(tf.constant(list(rows)), index)
        example = [tf.gather(FEATURES, row), tf.gather(TARGETS, row)]
        batch = tf.train.batch(example, batch_size, num_threads=1, capacity=16)
        queue = tf.FIFOQueue(4, [t.dtype for t in batch], [t.shape for t in batch])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(batch)]))
        return queue


def variable_called(name):
    (variable,) = [v for v in tf.global_variables() if v.op.name == name]
    return variable


@contextlib.contextmanager
def session_with_queues():
    with initialized_session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        yield session
        coordinator.request_stop()
        coordinator.join(threads)


@pytest.fixture
def linear():
    return Linear()


@pytest.fixture
def in_session():
    return session_with_queues
