"""Model functions in the place of models."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.estimator.model_function.model_factory import ModelFn, check_function
from tf_frame.estimator.model_function.spec import EstimatorSpec


class Hook(tf.train.SessionRunHook):
    pass


TRAINING, CHIEF, EVALUATION, PREDICTION = Hook(), Hook(), Hook(), Hook()
NO_LABELS = "model_fn does not take labels, but input_fn returns labels."


def model_fn(features, labels, mode):
    loss = tf.reduce_sum(features)
    return EstimatorSpec(
        mode,
        predictions={"twice": features * 2},
        loss=loss,
        train_op=tf.no_op(),
        eval_metric_ops={"mean": tf.metrics.mean(features)},
        training_hooks=[TRAINING],
        training_chief_hooks=[CHIEF],
        evaluation_hooks=[EVALUATION],
        prediction_hooks=[PREDICTION],
        scaffold=tf.train.Scaffold(),
    )


def built(function, mode=Mode.TRAIN, labels=None, **arguments):
    arguments = {"params": {}, "config": None, **arguments}
    return ModelFn(function, **arguments).build(tf.constant([1.0, 2.0]), labels, mode)


@pytest.mark.parametrize(
    ("mode", "hook"), [(Mode.TRAIN, TRAINING), (Mode.EVAL, EVALUATION), (Mode.PREDICT, PREDICTION)]
)
def test_what_the_function_returns_becomes_a_model_output(mode, hook):
    with tf.Graph().as_default():
        output = built(model_fn, mode)
        assert set(output.predictions) == {"twice"}
        assert output.loss is not None
        assert (output.train_op is not None) == (mode == Mode.TRAIN)
        assert set(output.metrics) == (set() if mode == Mode.PREDICT else {"mean"})
        assert output.hooks == (hook,)
        assert output.chief_hooks == (CHIEF,)
        assert isinstance(output.scaffold, tf.train.Scaffold)
        placed = built(model_fn, mode, device_fn=lambda op: "/device:CPU:3")
        assert placed.loss.device.endswith("CPU:3")


def test_the_function_gets_copies_and_a_plain_mode():
    got, params, config = {}, {"units": [1]}, ["config"]

    def model_fn(features, labels, mode, params, config):
        got.update(labels=labels, mode=mode)
        params["units"].append(2)
        config.clear()
        return EstimatorSpec(mode, loss=tf.reduce_sum(features))

    with tf.Graph().as_default():
        built(model_fn, labels=3, params=params, config=config)
    assert got == {"labels": 3, "mode": "train"}
    assert type(got["mode"]) is str
    assert (params, config) == ({"units": [1]}, ["config"])


def test_a_function_may_take_the_features_alone_but_not_if_there_are_labels():
    def model_fn(features):
        return EstimatorSpec("infer", predictions=features)

    with tf.Graph().as_default():
        assert built(model_fn, Mode.PREDICT).predictions.shape == [2]
        with pytest.raises(ValueError, match=NO_LABELS):
            built(model_fn, labels=1)


@pytest.mark.parametrize("returned", [None, 3, ("loss", "op")])
def test_anything_but_a_spec_is_refused_with_what_it_is(returned):
    with tf.Graph().as_default(), pytest.raises(ValueError) as raised:
        built(lambda features: returned)
    assert "model_fn should return an EstimatorSpec. It returned" in str(raised.value)
    assert (str(returned) if returned != ("loss", "op") else "tuple") in str(raised.value)


@pytest.mark.parametrize(("name", "quoted"), [("loss", '"loss"'), ("global_step", "`global_step`")])
def test_a_metric_of_the_estimators_own_name_is_refused(name, quoted):
    def model_fn(features, mode):
        metrics = {name: tf.metrics.mean(features)}
        return EstimatorSpec(mode, loss=tf.reduce_sum(features), eval_metric_ops=metrics)

    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=f"Metric with name {quoted} is not allowed, because"):
            built(model_fn, Mode.EVAL)
        assert set(built(model_fn, Mode.TRAIN).metrics) == {name}


@pytest.mark.parametrize(
    ("function", "params", "message"),
    [
        (lambda labels: 0, None, "must include features argument."),
        (lambda features: 0, {"a": 1}, r"does not include params argument, but params \(\{'a': 1"),
        (lambda features, extra: 0, None, r"has following not expected args: \['extra'\]"),
    ],
)
def test_a_function_with_the_wrong_arguments_is_refused(function, params, message):
    with pytest.raises(ValueError, match=message):
        check_function(function, params)


def test_params_that_nobody_gives_are_only_warned_about(monkeypatch):
    warned = []
    monkeypatch.setattr(tf.logging, "warn", lambda text, *values: warned.append(text))
    check_function(lambda features, params: 0, None)
    assert "includes params argument, but params are not passed" in warned[0]
    check_function(lambda features, params: 0, {})
    assert len(warned) == 1
