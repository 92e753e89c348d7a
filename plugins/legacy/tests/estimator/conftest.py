"""A linear model function and data; the tests compute its numbers by hand."""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]], np.float32)
Y = np.array([[3.0], [5.0], [7.0], [9.0], [11.0]], np.float32)
RATE = 0.01


def model_fn(features, labels, mode):
    """Predicts `weight * x`; the weight begins at 1, the loss is the mean squared error."""
    weight = tf.get_variable("weight", [1], initializer=tf.ones_initializer())
    predictions = features * weight
    if mode == estimator.ModeKeys.PREDICT:
        outputs = {"value": predictions, "double": 2 * predictions}
        exports = {"serving_default": estimator.export.PredictOutput({"value": predictions})}
        return estimator.EstimatorSpec(mode, predictions=outputs, export_outputs=exports)
    loss = tf.reduce_mean(tf.square(predictions - labels))
    train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, predictions)}
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def trained_weight(batches, weight=1.0):
    """The weight after a step on each batch, a slice of the rows."""
    for rows in batches:
        x, y = X[rows].astype(np.float64), Y[rows].astype(np.float64)
        weight -= RATE * np.mean(2 * x * (x * weight - y))
    return weight


def read_batches(input_fn, *, seed=1, most=50, tensors=None):
    """All batches of an input function, or the first ones; `tensors` gets what it returned."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        batch = input_fn()
        if tensors is not None:
            tensors.append(batch)
        batches = []
        with tf.train.MonitoredSession() as session:
            try:
                while len(batches) < most:
                    batches.append(session.run(batch))
            except tf.errors.OutOfRangeError:
                pass
        return batches


@pytest.fixture
def linear():
    """The model, and data in batches of two: two whole ones and half a one."""

    def data(batch_size=2, repeat=1):
        def input_fn():
            return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(repeat).batch(batch_size)

        return input_fn

    return types.SimpleNamespace(
        model_fn=model_fn, data=data, trained_weight=trained_weight, x=X, y=Y
    )


@pytest.fixture
def make(tmp_path):
    """Makes an estimator of the linear model, or another, in `tmp_path / "model"`."""

    def make(function=model_fn, **arguments):
        return estimator.Estimator(function, str(tmp_path / "model"), **arguments)

    return make


@pytest.fixture
def messages(caplog):
    """Messages in the logs of tf-frame and of TensorFlow."""
    import logging

    tensorflow = tf.get_logger()
    tensorflow.addHandler(caplog.handler)
    levels = {logger: logger.level for logger in (tensorflow, logging.getLogger("tf_frame"))}
    for logger in levels:
        logger.setLevel(logging.INFO)
    yield lambda: [record.getMessage() for record in caplog.records]
    tensorflow.removeHandler(caplog.handler)
    for logger, level in levels.items():
        logger.setLevel(level)


@pytest.fixture
def batches():
    """Reads input functions."""
    return read_batches
