"""Experiment and learn_runner with estimators of both kinds."""

import glob

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import learn
from tf_frame_legacy.hparams import HParams

X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
Y = 2 * X
RATE = 0.01


def parts(features, labels, rate):
    weight = tf.get_variable("weight", [1], initializer=tf.ones_initializer())
    predictions = features["x"] * weight
    loss = tf.reduce_mean(tf.square(predictions - (predictions if labels is None else labels)))
    step = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
    return {"y": predictions}, loss, step


def core_model_fn(features, labels, mode, params):
    predictions, loss, step = parts(features, labels, params.rate)
    return tf_estimator.EstimatorSpec(mode, predictions, loss, step)


def contrib_model_fn(features, targets, mode, params):
    predictions, loss, step = parts(features, targets, params["rate"])
    outputs = {"out": (learn.ProblemType.UNSPECIFIED, predictions)}
    return learn.ModelFnOps(mode, predictions, loss, step, output_alternatives=outputs)


def input_fn():
    return {"x": tf.constant(X)}, tf.constant(Y)


def receiver():
    features = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf_estimator.export.ServingInputReceiver(features, features)


def weight_after(steps, weight=1.0):
    x, y = X.astype(np.float64), Y.astype(np.float64)
    for _ in range(steps):
        weight -= RATE * np.mean(2 * x * (x * weight - y))
    return weight


def test_run_trains_evaluates_and_exports(tmp_path):
    made = []

    def experiment_fn(run_config, hparams):
        estimator = tf_estimator.Estimator(core_model_fn, config=run_config, params=hparams)
        made.append(estimator)
        return learn.Experiment(
            estimator,
            input_fn,
            input_fn,
            train_steps=3,
            eval_steps=1,
            export_strategies=learn.make_export_strategy(receiver, exports_to_keep=1),
        )

    config = learn.RunConfig(model_dir=str(tmp_path / "model"), save_checkpoints_steps=2)
    result, exports = learn.learn_runner.run(
        experiment_fn, run_config=config, hparams=HParams(rate=RATE)
    )
    assert result["global_step"] == 3
    error = X * weight_after(3) - Y
    assert result["loss"] == pytest.approx(np.mean(error**2), rel=1e-4)
    assert glob.glob(exports[0].decode() + "/saved_model.pb")
    assert f"{made[0].model_dir}/export/Servo/" in exports[0].decode()
    with pytest.raises(ValueError, match="non-existent task nothing"):
        learn.learn_runner.run(experiment_fn, None, "nothing", config, HParams(rate=RATE))


def test_the_configuration_has_to_be_used(tmp_path):
    config = learn.RunConfig(model_dir=str(tmp_path))

    def experiment_fn(run_config, hparams):
        other = learn.RunConfig(model_dir=str(tmp_path))
        estimator = tf_estimator.Estimator(core_model_fn, config=other, params=hparams)
        return learn.Experiment(estimator, input_fn, input_fn)

    run = learn.learn_runner.run
    with pytest.raises(RuntimeError, match="Pass `run_config` argument"):
        run(experiment_fn, run_config=config, hparams=HParams())
    with pytest.raises(TypeError, match="did not return an Experiment"):
        run(lambda run_config, hparams: None, run_config=config)
    with pytest.raises(ValueError, match="must be `tf.contrib.learn.RunConfig`"):
        run(experiment_fn, run_config=tf_estimator.RunConfig(str(tmp_path)))
    for arguments, error, message in (
        ({}, ValueError, "Must set value"),
        ({"output_dir": "a", "run_config": config}, ValueError, "Cannot provide both"),
        ({"run_config": learn.RunConfig()}, ValueError, "Must specify a model directory"),
        ({"run_config": config, "hparams": {}}, ValueError, "must be `HParams` instance"),
    ):
        with pytest.raises(error, match=message):
            run(experiment_fn, **arguments)


@pytest.mark.slow
def test_methods_of_an_experiment(tmp_path):
    estimator = learn.Estimator(contrib_model_fn, str(tmp_path / "model"), params={"rate": RATE})
    metrics = {
        "mae": learn.MetricSpec(
            lambda predictions, labels: tf.metrics.mean_absolute_error(labels, predictions), "y"
        )
    }
    experiment = learn.Experiment(
        estimator,
        input_fn,
        input_fn,
        eval_metrics=metrics,
        train_steps=4,
        eval_steps=1,
        eval_delay_secs=0,
        train_steps_per_iteration=2,
    )
    assert experiment.test()["global_step"] == 1
    result, _ = experiment.continuous_train_and_eval(lambda result: True)
    assert result["global_step"] == 5  # The test made a step; each turn makes two.
    assert result["mae"] == pytest.approx(np.mean(np.abs(X * weight_after(5) - Y)), rel=1e-4)
    experiment.continuous_eval(throttle_delay_secs=0)
    assert glob.glob(f"{estimator.model_dir}/eval_continuous/*")
    assert experiment.evaluate()["global_step"] == 5
    result, exports = experiment.local_run()  # All steps are made: it evaluates.
    assert (result["global_step"], exports) == (5, [])
    assert experiment.reset_export_strategies(learn.make_export_strategy(receiver)) == ()


def test_wrong_arguments():
    core = tf_estimator.Estimator(core_model_fn, params=HParams(rate=1.0))
    contrib = learn.Estimator(contrib_model_fn)
    for arguments, message in (
        ((core, input_fn, input_fn, {"mae": None}), "`eval_metrics` must be `None`"),
        ((object(), input_fn, input_fn), "`estimator` must implement"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.Experiment(*arguments)
    for arguments, message in (
        ({"estimator": contrib, "saving_listeners": []}, "`saving_listeners` must be `None`"),
        ({"estimator": core, "train_steps_per_iteration": 1.5}, "must be an integer"),
        ({"estimator": core, "export_strategies": [1]}, "must be an ExportStrategy"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.Experiment(train_input_fn=input_fn, eval_input_fn=input_fn, **arguments)


class OwnLoop(learn.Experiment):
    """An experiment in the style of programs that read the private attributes."""

    def train_in_parts(self):
        results = []
        while not results or results[-1]["global_step"] < self._train_steps:
            self._estimator.train(self._train_input_fn, steps=2, hooks=self._train_monitors)
            results.append(
                self._estimator.evaluate(
                    self._eval_input_fn, steps=self._eval_steps, hooks=self._eval_hooks
                )
            )
        return results, self._maybe_export(results[-1]), self._eval_metrics


def test_loops_of_subclasses(tmp_path):
    estimator = tf_estimator.Estimator(
        core_model_fn, str(tmp_path / "model"), params=HParams(rate=RATE)
    )
    experiment = OwnLoop(estimator, input_fn, input_fn, train_steps=4, eval_steps=1)
    results, exports, metrics = experiment.train_in_parts()
    assert [result["global_step"] for result in results] == [2, 4]
    assert (exports, metrics, experiment.train_steps) == ([], None, 4)
