"""Estimator, ModelFnOps, MetricSpec and RunConfig of tf.contrib.learn."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import learn

X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)


def tuple_model_fn(features, labels, mode, model_dir):
    assert model_dir
    weight = tf.get_variable("weight", [1], initializer=tf.ones_initializer())
    predictions = features * weight
    if mode == learn.ModeKeys.INFER:
        return predictions, None, None
    loss = tf.reduce_mean(tf.square(predictions - labels))
    return predictions, loss, tf.assign_add(tf.train.get_global_step(), 1)


def test_arrays_in_and_out(tmp_path):
    estimator = learn.Estimator(tuple_model_fn, str(tmp_path / "model"))
    compatible = learn.SKCompat(estimator).fit(X, 2 * X, batch_size=2, steps=3)
    metrics = {"mae": learn.MetricSpec(tf.metrics.mean_absolute_error)}
    result = compatible.score(X, 2 * X, batch_size=4, metrics=metrics)
    assert (result["loss"], result["mae"], result["global_step"]) == (7.5, 2.5, 3)
    np.testing.assert_array_equal(compatible.predict(X), X)
    batches = list(estimator.predict(X, batch_size=3, iterate_batches=True))
    assert [len(batch) for batch in batches] == [3, 1]
    assert estimator.get_variable_names() == ["global_step", "weight"]
    assert estimator.get_variable_value("weight") == [1.0]
    with pytest.raises(ValueError, match="feed_fn is not supported"):
        estimator.evaluate(X, X, feed_fn=dict)


@pytest.mark.slow
def test_features_may_be_engineered(tmp_path):
    estimator = learn.Estimator(
        tuple_model_fn,
        str(tmp_path),
        feature_engineering_fn=lambda features, labels: (3 * features, labels),
    )
    estimator.fit(X, X, steps=1)
    np.testing.assert_array_equal(list(estimator.predict(X)), 3 * X)
    assert estimator.partial_fit(X, X).evaluate(X, X)["global_step"] == 2


def test_results_of_a_model_function(graph):
    one = tf.constant([1.0])
    problem, key = learn.ProblemType, learn.PredictionKey
    alternatives = {
        "class": (problem.CLASSIFICATION, {key.PROBABILITIES: one, key.CLASSES: tf.constant("a")}),
        "line": (problem.LINEAR_REGRESSION, {key.SCORES: one}),
    }
    hook = tf.train.SessionRunHook()
    ops = learn.ModelFnOps(
        "infer", {"y": one}, output_alternatives=alternatives, training_hooks=[hook]
    )
    outputs = ops.estimator_spec("line").export_outputs
    assert isinstance(outputs["serving_default"], tf_estimator.export.RegressionOutput)
    assert outputs["class"].classes.dtype == tf.string
    metrics = {"loss": (one, one), "mae": (one, one)}
    spec = learn.ModelFnOps("eval", {"y": one}, one, eval_metric_ops=metrics).estimator_spec()
    assert list(spec.eval_metric_ops) == ["mae"] and spec.loss.shape == []
    for arguments, error, message in (
        (("other",), ValueError, "Invalid mode"),
        (("train", None, one), ValueError, "Missing train_op"),
        (("eval", None, one), ValueError, "Missing predictions"),
        (("eval", one), ValueError, "Missing loss"),
        (("eval", one, tf.zeros([2])), ValueError, "Loss must be scalar"),
        (("eval", one, one, None, []), ValueError, "eval_metric_ops must be a dict"),
        (("infer", one, None, None, None, None, [1]), TypeError, "must be SessionRunHook"),
    ):
        with pytest.raises(error, match=message):
            learn.ModelFnOps(*arguments)


def test_metrics_get_their_tensors():
    def named(labels, predictions, weights=None):
        return labels, predictions, weights

    def in_order(first, second):
        return second, first, None

    inputs, labels, predictions = {"w": 3}, {"l": 2}, {"p": 1, "q": 0}
    spec = learn.MetricSpec(named, "p", "l", "w")
    assert spec.create_metric_ops(inputs, labels, predictions) == (2, 1, 3)
    assert learn.MetricSpec(named).create_metric_ops(None, labels, 1) == (2, 1, None)
    assert learn.MetricSpec(in_order).create_metric_ops(None, 2, 1) == (2, 1, None)
    assert "metric_fn=named, prediction_key=p" in str(spec)
    with pytest.raises(ValueError, match="without specified prediction_key requires"):
        learn.MetricSpec(named).create_metric_ops(None, 2, predictions)
    with pytest.raises(ValueError, match="with label_key specified requires"):
        learn.MetricSpec(named, "p", "l").create_metric_ops(None, 2, predictions)
    with pytest.raises(KeyError, match="missing from"):
        learn.MetricSpec(named, "r").create_metric_ops(None, 2, predictions)


def test_the_configuration():
    config = learn.RunConfig(num_cores=2, log_device_placement=True, gpu_memory_fraction=0.5)
    assert isinstance(config, tf_estimator.RunConfig)
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (600, None)
    proto = config.session_config
    assert (proto.intra_op_parallelism_threads, proto.log_device_placement) == (2, True)
    assert proto.gpu_options.per_process_gpu_memory_fraction == 0.5
    assert (config.environment, config.master, config.task_id) == ("local", "", 0)
    assert config.replace(model_dir="a").uid() == config.uid() != learn.RunConfig().uid()
    config = learn.RunConfig(master="grpc://a:1", save_checkpoints_steps=5)
    assert (config.master, config.save_checkpoints_secs) == ("grpc://a:1", None)
    assert config.save_checkpoints_steps == 5
