"""Recipes of options, as config.yaml has them."""

import pytest

from tf_frame.errors import ConfigError, PluginError
from tf_frame.estimator.recipe_of import recipe_of


def test_without_options_it_is_the_default_of_a_run():
    recipe = recipe_of({}, model_dir="runs/x")
    assert (recipe.model_dir, recipe.config.max_steps) == ("runs/x", 1000)
    assert (recipe.optimizer.name, recipe.schedule.name) == ("momentum", "fixed")
    assert (list(recipe.transforms), list(recipe.hooks)) == ([], [])


def test_options_choose_plugins_and_their_values_nested_or_dotted():
    recipe = recipe_of(
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
    assert recipe.config.num_clones == 2
    assert (recipe.optimizer.name, recipe.optimizer.params.beta1) == ("adam", 0.8)
    assert (recipe.schedule.name, recipe.schedule.params.power) == ("poly", 0.5)
    assert recipe.transforms[0].name == "clip_by_norm"
    assert next(iter(vars(recipe.transforms[0].params).values())) == 10
    assert (recipe.hooks[0].name, recipe.hooks[0].params.every_secs) == ("heartbeat", 7)


def test_defaults_of_the_model_stand_behind_the_options():
    defaults = {"optimizer": "adam", "optimizer.beta1": 0.7, "learning_rate": 0.5, "max_steps": 3}
    recipe = recipe_of(
        {"max_steps": 4}, model_dir="x", defaults=defaults, transforms=["clip_by_norm:3"]
    )
    assert (recipe.optimizer.params.beta1, recipe.config.learning_rate) == (0.7, 0.5)
    assert recipe.config.max_steps == 4
    assert [part.name for part in recipe.transforms] == ["clip_by_norm"]
    other = recipe_of({"optimizer": "sgd", "transforms": []}, model_dir="x", defaults=defaults)
    assert (other.optimizer.name, list(other.transforms)) == ("sgd", [])


def test_defaults_for_one_optimizer_are_not_for_another():
    defaults = {"optimizer": "momentum", "optimizer.momentum": 0.5}
    for chosen, momentum in [("momentum", 0.5), ("rmsprop", 0.9)]:
        recipe = recipe_of({"optimizer": chosen}, model_dir="x", defaults=defaults)
        assert recipe.optimizer.params.momentum == momentum


def test_what_stands_beside_a_name_in_a_list_wins():
    hooks = [{"name": "heartbeat", "every_secs": 7}]
    recipe = recipe_of({"hooks": hooks, "hook.heartbeat.every_secs": 3}, model_dir="x")
    assert recipe.hooks[0].params.every_secs == 7


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
        recipe_of(options, model_dir="x")


def test_a_plugin_that_is_not_there_is_refused():
    with pytest.raises(PluginError, match="adamm"):
        recipe_of({"optimizer": "adamm"}, model_dir="x")
