import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import tf_frame.estimator
from refusals import refusal
from tf_frame.estimator.added_metrics import add_metrics
from tf_frame.testing.toy import WEIGHTS, ToyInput, ToyModel
from tf_frame_legacy import estimator


def test_metrics_of_any_arguments_are_added(make, linear):
    seen = []

    def metric_fn(labels, config, features):
        seen.append(config.model_dir)
        return {"sum": tf.metrics.mean(features + labels)}

    first = make().train(linear.data(repeat=0))
    regressor = estimator.add_metrics(first, metric_fn)
    assert type(regressor) is estimator.Estimator
    assert regressor.model_dir == first.model_dir == seen_once(seen, regressor, linear)
    results = regressor.evaluate(linear.data())
    assert results["sum"] == pytest.approx(np.mean(linear.x + linear.y))
    assert results["mae"] == pytest.approx(4.0)
    assert "sum" not in first.evaluate(linear.data())


def seen_once(seen, regressor, linear):
    regressor.evaluate(linear.data())
    return seen[0]


@pytest.mark.slow
def test_the_new_estimator_trains_and_predicts_as_before(make, linear):
    regressor = estimator.add_metrics(make(), lambda labels: {"mean": tf.metrics.mean(labels)})
    regressor.train(linear.data())
    assert regressor.evaluate(linear.data())["global_step"] == 3
    assert len(list(regressor.predict(linear.data()))) == 5


def test_a_metric_of_the_same_name_takes_the_place_of_the_models(make, linear):
    regressor = estimator.add_metrics(make(), lambda labels: {"mae": tf.metrics.mean(labels)})
    assert regressor.evaluate(linear.data())["mae"] == pytest.approx(7.0)


def test_predictions_are_those_of_the_spec(make, linear):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        return spec._replace(predictions={"x": features}, eval_metric_ops={})

    def metric_fn(predictions):
        return {"x": tf.metrics.mean(predictions["x"])}

    regressor = estimator.add_metrics(make(model_fn), metric_fn)
    assert regressor.evaluate(linear.data())["x"] == pytest.approx(3.0)


def test_params_reach_the_model_and_input_functions(make, linear):
    def model_fn(features, labels, mode, params):
        return linear.model_fn(features * params["scale"], labels, mode)

    def input_fn(params):
        assert params == {"scale": 2.0}
        return linear.data()()

    first = make(model_fn, params={"scale": 2.0})
    regressor = estimator.add_metrics(first, lambda labels: {"mean": tf.metrics.mean(labels)})
    results = regressor.evaluate(input_fn)
    assert regressor.params == {"scale": 2.0}
    assert results["mae"] == pytest.approx(1.0)


@pytest.mark.slow
def test_a_warm_start_goes_along(make, linear, tmp_path):
    old = estimator.Estimator(linear.model_fn, str(tmp_path / "old")).train(linear.data())
    first = make(warm_start_from=old.model_dir)
    regressor = estimator.add_metrics(first, lambda labels: {"mean": tf.metrics.mean(labels)})
    regressor.train(linear.data(repeat=0))
    assert regressor.get_variable_value("weight") == old.get_variable_value("weight")


def test_other_arguments_are_refused(make):
    def metric_fn(labels, logits, predictions):
        pass

    message = f"metric_fn ({metric_fn}) has following not expected args: ['logits']"
    assert refusal(estimator.add_metrics, make(), metric_fn) == (ValueError, message)


@pytest.mark.slow
@pytest.mark.parametrize("constructed", [False, True])
def test_a_model_plugin_gets_metrics_too(tmp_path, constructed):
    source = ToyInput(params=ToyInput.Params())
    model = ToyModel(params=ToyModel.Params(), info=source.info) if constructed else ToyModel
    config = tf_frame.estimator.RunConfig(options={"train_batch_size": 8, "optimizer": "sgd"})
    first = tf_frame.estimator.Estimator(model, model_dir=str(tmp_path), config=config)

    def metric_fn(labels, predictions):
        return {"mean": tf.metrics.mean(labels), "sum": tf.metrics.mean(predictions["value"])}

    regressor = add_metrics(first, metric_fn)
    assert type(regressor) is tf_frame.estimator.Estimator
    regressor.train(source, steps=1)
    results = regressor.evaluate(source)
    features = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    assert results["mean"] == pytest.approx(np.mean(features @ WEIGHTS + 3.0), abs=1e-5)
    assert {"sum", "mean_absolute_error", "loss"} <= results.keys()
    assert "mean" not in first.evaluate(source)


def test_run_options_of_the_configuration_are_kept(tmp_path):
    source = ToyInput(params=ToyInput.Params())
    options = {"optimizer": "sgd", "train_batch_size": 8}
    config = tf_frame.estimator.RunConfig(model_dir=str(tmp_path), options=options)
    first = tf_frame.estimator.Estimator(ToyModel, config=config)
    regressor = add_metrics(first, lambda labels: {"mean": tf.metrics.mean(labels)}).train(
        source, steps=1
    )
    assert regressor.get_variable_names() == ["global_step", "linear/biases", "linear/weights"]
