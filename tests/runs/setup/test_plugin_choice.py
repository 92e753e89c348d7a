"""Training setups made of options, as config.yaml has them."""

import pytest

from tf_frame.config.yaml_file import to_settings
from tf_frame.errors import ConfigError, PluginError
from tf_frame.runs.setup.plugin_choice import setup_from_options


def test_without_options_it_is_the_default_of_a_run():
    setup = setup_from_options({}, model_dir="runs/x")
    assert (setup.model_dir, setup.config.max_steps) == ("runs/x", 1000)
    assert (setup.optimizer.name, setup.schedule.name) == ("momentum", "fixed")
    assert (list(setup.transforms), list(setup.hooks)) == ([], [])


def test_options_choose_plugins_and_their_values_nested_or_dotted():
    setup = setup_from_options(
        {
            "num_clones": 2,
            "optimizer": "adam",
            "optimizer.beta1": 0.8,
            "schedule": {"name": "poly", "power": 0.5},
            "transforms": ["clip_by_norm:10"],
            "hooks": [{"name": "heartbeat", "every_secs": 7}],
        },
        model_dir="x",
    )
    assert setup.config.num_clones == 2
    assert (setup.optimizer.name, setup.optimizer.params.beta1) == ("adam", 0.8)
    assert (setup.schedule.name, setup.schedule.params.power) == ("poly", 0.5)
    assert setup.transforms[0].name == "clip_by_norm"
    assert next(iter(vars(setup.transforms[0].params).values())) == 10
    assert (setup.hooks[0].name, setup.hooks[0].params.every_secs) == ("heartbeat", 7)


def test_defaults_of_the_model_stand_behind_the_options():
    run_defaults = {"optimizer": "adam", "optimizer.beta1": 0.7, "learning_rate": 0.5}
    content = {**run_defaults, "max_steps": 3, "transforms": ["clip_by_norm:3"]}
    defaults = to_settings(content, "defaults")
    setup = setup_from_options({"max_steps": 4}, model_dir="x", defaults=defaults)
    assert (setup.optimizer.params.beta1, setup.config.learning_rate) == (0.7, 0.5)
    assert setup.config.max_steps == 4
    assert [part.name for part in setup.transforms] == ["clip_by_norm"]
    other = setup_from_options(
        {"optimizer": "sgd", "transforms": []}, model_dir="x", defaults=defaults
    )
    assert (other.optimizer.name, list(other.transforms)) == ("sgd", [])


def test_defaults_for_one_optimizer_are_not_for_another():
    defaults = to_settings({"optimizer": "momentum", "optimizer.momentum": 0.5}, "defaults")
    for chosen, momentum in [("momentum", 0.5), ("rmsprop", 0.9)]:
        setup = setup_from_options({"optimizer": chosen}, model_dir="x", defaults=defaults)
        assert setup.optimizer.params.momentum == momentum


def test_what_stands_beside_a_name_in_a_list_wins():
    hooks = [{"name": "heartbeat", "every_secs": 7}]
    setup = setup_from_options({"hooks": hooks, "hook.heartbeat.every_secs": 3}, model_dir="x")
    assert setup.hooks[0].params.every_secs == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_step": 3}, "options: unknown option max_step; did you mean max_steps"),
        ({"optimizer.beta9": 3}, "options: unknown option optimizer.beta9"),
        ({"max_steps": "many"}, "max_steps"),
        ({"plugin": "deeplab"}, "the estimator is given its model"),
        ({"input": "nuclei"}, "the estimator is given its model"),
        ({"transforms": "clip_by_norm"}, "'transforms' takes a list"),
    ],
)
def test_what_is_no_option_or_no_value_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        setup_from_options(options, model_dir="x")


def test_a_plugin_that_is_not_there_is_refused():
    with pytest.raises(PluginError, match="adamm"):
        setup_from_options({"optimizer": "adamm"}, model_dir="x")
