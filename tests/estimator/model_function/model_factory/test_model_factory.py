"""Model plugins constructed from the argument `model` of an estimator."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import EstimatorSpec, InputInfo, Model, RunConfig
from tf_frame.errors import ConfigError
from tf_frame.estimator.model_function.model_factory import ModelFactory, ModelFn
from tf_frame.plugin import Mode
from tf_frame.testing.toy import ToyModel


class Tuned(ToyModel):
    run_defaults = {"optimizer": "adam", "learning_rate": 0.5, "save_summaries_steps": 7}
    default_transforms = ("clip_by_norm:3",)


def model_fn(features, params):
    return features, params


def maker(model, params=None, config=None):
    return ModelFactory(model, params=params, config=config or RunConfig(model_dir="x"))


def test_a_function_is_wrapped_and_trained_by_the_old_defaults_where_they_differ():
    factory = maker(model_fn, params={"a": 1})
    assert factory.is_function and isinstance(factory.model(None), ModelFn)
    config = factory.setup().config
    assert (config.regularization, config.allow_inexact_resume) == ("none", True)
    assert config.log_every_n_steps == 100
    assert maker(ToyModel).setup().config.log_every_n_steps == 10
    said = RunConfig(model_dir="x", options={"allow_inexact_resume": False})
    assert not maker(model_fn, params={}, config=said).setup().config.allow_inexact_resume


def test_a_function_builds_on_the_devices_of_the_configuration():
    config = RunConfig(model_dir="x", device_fn=lambda op: "/device:CPU:3")

    def one(features, mode):
        return EstimatorSpec(mode, predictions={"one": tf.constant(1.0)})

    with tf.Graph().as_default():
        output = maker(one, config=config).model(None).build({}, None, Mode.PREDICT)
    assert output.predictions["one"].device == "/device:CPU:3"


def test_a_class_is_constructed_for_the_data_with_its_options():
    factory = maker(ToyModel, params={"l2": 0.25})
    info = InputInfo(num_classes=3)
    model = factory.model(info)
    assert isinstance(model, ToyModel) and not factory.is_function
    assert (model.params.l2, model.info) == (0.25, info)
    # An export takes the model of the training before.
    assert factory.model(None) is model
    assert factory.model(InputInfo(num_classes=4)).info.num_classes == 4
    assert maker(ToyModel).model(None).info == InputInfo()
    assert maker(model).model(InputInfo(num_classes=9)) is model


def test_options_may_be_an_instance_which_is_copied():
    params = ToyModel.Params(l2=0.5)
    copied = maker(ToyModel, params=params).model(InputInfo()).params
    assert copied == params and copied is not params


def test_the_configuration_wins_over_the_defaults_of_the_model():
    setup = maker(Tuned).setup()
    assert (setup.optimizer.name, setup.config.learning_rate) == ("adam", 0.5)
    assert setup.config.save_summaries_steps == 7
    assert [part.name for part in setup.transforms] == ["clip_by_norm"]
    config = RunConfig(
        model_dir="x", save_summary_steps=9, options={"optimizer": "sgd", "transforms": []}
    )
    setup = maker(Tuned, config=config).setup()
    assert (setup.optimizer.name, setup.config.save_summaries_steps) == ("sgd", 9)
    assert list(setup.transforms) == []


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        ("deeplab", None, "the model is 'deeplab'; it must be a model function or a"),
        (ToyModel, {"l22": 1}, "params: unknown option l22; did you mean l2"),
        (ToyModel, {"l2": "much"}, "l2"),
        (ToyModel, 3, "params is 3; give option -> value, or a Params"),
        (ToyModel(params=None, info=None), {"l2": 1}, "already constructed"),
    ],
)
def test_what_fits_no_model_is_refused(model, params, message):
    with pytest.raises(ConfigError, match=message):
        maker(model, params=params)


def test_the_bound_function_is_there_for_functions_only():
    assert callable(maker(model_fn, params={}).bound_function())
    with pytest.raises(ValueError, match="must include features argument"):
        maker(lambda labels: 0)
    with pytest.raises(ValueError, match="which is not a model function"):
        maker(Model).bound_function()
