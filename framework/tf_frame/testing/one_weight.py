"""A model function with one weight and known values after each step.

The loss and the weight show to a test of an `Estimator` which steps were run and restored.
Each step of gradient descent halves the distance of the weight to 4. After step n:

    weight = 4 (1 - 0.5^n)      loss = (4 - weight)^2 = 16 * 0.25^n
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.model_function.spec import EstimatorSpec, ModeKeys
from tf_frame.runs.export.input_receivers import ServingInputReceiver


def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
    """Predicts `[batch]` products of the feature `x` and the weight; the metric is the weight."""
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    predictions = {"y": features["x"] * weight}
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(predictions["y"] - labels))
    train_op = None
    if mode == ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(0.25)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"weight": tf.metrics.mean(weight)}
    return EstimatorSpec(
        mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def input_fn() -> Any:
    """Returns a data set of endless batches of one pair."""
    return batches().repeat()


def batches(number: int = 1) -> Any:
    """Returns a data set of `number` batches of one pair."""
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [4.0])).repeat(number)


def serving_input_receiver_fn() -> ServingInputReceiver:
    """Returns a receiver of `[batch]` features `x`."""
    feature = tf.placeholder(tf.float32, [None], name="x")
    return ServingInputReceiver({"x": feature}, {"x": feature})


def loss_after(step: int) -> float:
    """Returns the loss after step `step`."""
    return float(16 * 0.25**step)
