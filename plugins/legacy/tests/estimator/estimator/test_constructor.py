import json
import os
import pathlib

import pytest

from refusals import refusal
from tf_frame_legacy import estimator


def test_arguments_may_be_given_in_their_old_order(tmp_path):
    def model_fn(features, params):
        pass

    config = estimator.RunConfig(save_summary_steps=7)
    regressor = estimator.Estimator(model_fn, str(tmp_path), config, {"units": 3}, str(tmp_path))
    assert regressor.model_dir == str(tmp_path)
    assert regressor.config.save_summary_steps == 7
    assert regressor.params == {"units": 3}


def without_features(x, labels):
    pass


def with_more(features, labels, mode, params, config, more):
    pass


def features_only(features):
    pass


@pytest.mark.parametrize(
    ("model_fn", "options", "message"),
    [
        (None, {}, "model_fn must be provided to Estimator."),
        (without_features, {}, f"model_fn ({without_features}) must include features argument."),
        (
            with_more,
            {"params": {}},
            f"model_fn ({with_more}) has following not expected args: ['more']",
        ),
        (
            features_only,
            {"params": {"a": 1}},
            f"model_fn ({features_only}) does not include params argument, but params ({{'a': 1}}) "
            "is passed to Estimator.",
        ),
        (
            features_only,
            {"config": {"model_dir": "a"}},
            "config must be an instance of `RunConfig`, but provided {'model_dir': 'a'}.",
        ),
        (
            features_only,
            {"warm_start_from": 3},
            "warm_start_from must be a string or a WarmStartSettings, instead got <class 'int'>",
        ),
    ],
    ids=lambda value: value[:9] if isinstance(value, str) else None,
)
def test_wrong_arguments_are_refused(tmp_path, model_fn, options, message):
    folder = () if "config" in options else (str(tmp_path),)
    assert refusal(estimator.Estimator, model_fn, *folder, **options) == (ValueError, message)


def test_params_that_a_model_function_takes_and_does_not_get_are_warned_of(tmp_path, messages):
    def model_fn(features, params):
        pass

    regressor = estimator.Estimator(model_fn, str(tmp_path))
    assert regressor.params == {}
    assert (
        f"Estimator's model_fn ({model_fn}) includes params argument, but params are not passed "
        "to Estimator."
    ) in messages()


def test_the_folder_may_be_in_the_configuration(linear, tmp_path):
    config = estimator.RunConfig(model_dir=str(tmp_path / "a"))
    assert estimator.Estimator(linear.model_fn, config=config).model_dir == str(tmp_path / "a")
    regressor = estimator.Estimator(linear.model_fn, pathlib.Path(tmp_path / "a"), config)
    assert regressor.model_dir == regressor.config.model_dir == str(tmp_path / "a")
    assert refusal(estimator.Estimator, linear.model_fn, str(tmp_path / "b"), config) == (
        ValueError,
        "`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
        f"constructor: '{tmp_path / 'b'}', in `RunConfig`: '{tmp_path / 'a'}' ",
    )


def test_without_a_folder_a_temporary_one_is_made(linear, messages):
    regressor = estimator.Estimator(linear.model_fn)
    assert os.path.isdir(regressor.model_dir) and regressor.config.model_dir == regressor.model_dir
    assert f"Using temporary folder as model directory: {regressor.model_dir}" in messages()
    os.rmdir(regressor.model_dir)


def test_params_and_configuration_are_copies(make):
    def model_fn(features, params):
        pass

    params = {"layers": [1]}
    regressor = make(model_fn, params=params)
    params["layers"].append(2)
    regressor.params["layers"].append(3)
    assert regressor.params == {"layers": [1]}
    assert regressor.config is not regressor.config


@pytest.mark.parametrize(
    "member", ["train", "evaluate", "export_saved_model", "export_savedmodel", "config"]
)
def test_a_subclass_must_not_override_a_member(linear, tmp_path, member):
    parent = type("Parent", (estimator.Estimator,), {member: lambda self: None})
    for cls in (parent, type("Child", (parent,), {})):
        assert refusal(cls, linear.model_fn, str(tmp_path)) == (
            ValueError,
            f"Subclasses of Estimator cannot override members of Estimator. {cls} does override "
            f"['{member}']",
        )


def test_a_subclass_may_have_a_constructor_a_model_fn_and_methods_of_its_own(linear, tmp_path):
    class Mine(estimator.Estimator):
        def __init__(self, folder):
            super().__init__(linear.model_fn, folder)

        def retrain(self):
            return self.model_dir

        def model_fn(self):
            pass

    assert Mine(str(tmp_path)).retrain() == str(tmp_path)


def test_the_bound_model_function_has_the_params(make):
    seen = []

    def model_fn(features, labels, mode, params, config):
        seen.append((features, labels, mode, params, config.model_dir))
        return estimator.EstimatorSpec(mode, predictions=features)

    import tensorflow.compat.v1 as tf

    regressor = make(model_fn, params={"a": 1})
    with tf.Graph().as_default():
        features = tf.constant([1.0])
        spec = regressor.model_fn(features, None, "infer", regressor.config)
    assert spec.predictions is features
    assert seen == [(features, None, "infer", {"a": 1}, regressor.model_dir)]


def test_the_folders_of_evaluations_have_the_old_names(make):
    regressor = make()
    assert regressor.eval_dir() == os.path.join(regressor.model_dir, "eval")
    assert regressor.eval_dir("test") == os.path.join(regressor.model_dir, "eval_test")


@pytest.mark.parametrize("role", ["ps", "evaluator"])
def test_train_is_not_for_tasks_that_do_not_train(make, linear, monkeypatch, role):
    cluster = {"chief": ["a:1"], "ps": ["b:1"]}
    task = {"type": role, "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    with pytest.raises(ValueError, match="^Train has been called wrong configuration. Please use"):
        make().train(linear.data())


def test_without_a_checkpoint_there_are_no_variables(make):
    regressor = make()
    assert regressor.latest_checkpoint() is None
    for read in (regressor.get_variable_names, lambda: regressor.get_variable_value("weight")):
        message = f"Could not find trained model in model_dir: {regressor.model_dir}."
        assert refusal(read) == (ValueError, message)
