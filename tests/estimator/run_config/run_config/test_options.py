import pytest

from refusals import refusal
from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.estimator.run_config.run_config import RunConfig

from .conftest import DEFAULTS, GIVEN


def test_the_defaults_as_run_options():
    assert RunConfig().run_options() == {
        "save_summaries_steps": 100,
        "save_checkpoint_steps": None,
        "save_checkpoint_secs": 600,
        "max_to_keep": 5,
        "keep_checkpoint_every_n_hours": None,
        "log_every_n_steps": 100,
    }
    config = resolve(RunOptions, [RunConfig().run_options()])
    assert config == RunOptions(log_every_n_steps=100)


def test_every_field_that_is_a_run_option_becomes_one():
    assert RunConfig(**GIVEN).run_options() == {
        "random_seed": 7,
        "save_summaries_steps": 2,
        "save_checkpoint_steps": 3,
        "save_checkpoint_secs": None,
        "max_to_keep": 4,
        "keep_checkpoint_every_n_hours": 1.5,
        "log_every_n_steps": 6,
    }


@pytest.mark.parametrize(
    ("field", "value", "option", "told"),
    [
        ("save_summary_steps", 0, "save_summaries_steps", None),
        ("save_summary_steps", None, "save_summaries_steps", None),
        ("log_step_count_steps", None, "log_every_n_steps", 0),
        ("keep_checkpoint_max", 0, "max_to_keep", 0),
        ("keep_checkpoint_max", None, "max_to_keep", 0),
        ("keep_checkpoint_every_n_hours", 9999, "keep_checkpoint_every_n_hours", 9999),
        ("keep_checkpoint_every_n_hours", 10000, "keep_checkpoint_every_n_hours", None),
        ("keep_checkpoint_every_n_hours", 10001, "keep_checkpoint_every_n_hours", None),
        ("keep_checkpoint_every_n_hours", None, "keep_checkpoint_every_n_hours", None),
        ("tf_random_seed", 0, "random_seed", 0),
    ],
)
def test_none_and_zero_are_translated(field, value, option, told):
    assert RunConfig(**{field: value}).run_options()[option] == told


@pytest.mark.parametrize(
    "given", [{"save_checkpoints_secs": None}, {"options": {"save_checkpoint_secs": None}}]
)
def test_checkpoints_that_are_disabled_are_left_out(given):
    config = RunConfig(**given)
    assert config.checkpoints_disabled
    assert not {"save_checkpoint_secs", "save_checkpoint_steps"} & config.run_options().keys()


def test_only_what_was_given_can_be_asked_for(in_cluster):
    assert RunConfig().run_options(with_defaults=False) == {}
    config = RunConfig(save_checkpoints_steps=3, options={"max_to_keep": 5, "num_clones": 2})
    assert config.run_options(with_defaults=False) == {
        "save_checkpoint_steps": 3,
        "max_to_keep": 5,
        "num_clones": 2,
    }
    replaced = RunConfig().replace(save_summary_steps=100)
    assert replaced.run_options(with_defaults=False) == {"save_summaries_steps": 100}
    in_cluster("chief", 0, cluster={"chief": ["c:1"], "ps": ["p:1"]})
    assert RunConfig().run_options(with_defaults=False) == {
        "master": "grpc://c:1",
        "task": 0,
        "worker_replicas": 1,
        "num_ps_tasks": 1,
    }


def test_options_are_told_beside_the_fields():
    given = {
        "num_clones": 2,
        "optimizer": "adam",
        "optimizer.beta1": 0.8,
        "schedule": "poly",
        "transforms": ["clip_by_norm:10", {"name": "freeze", "patterns": ["a"]}],
        "transform.clip_by_norm.max_norm": 3,
        "hooks": ["heartbeat:60"],
        "hook.heartbeat.every_secs": 5,
        "profile_at_step": [1, 2],
    }
    config = RunConfig(options=given)
    assert config.options == given
    told = config.run_options()
    assert {name: told[name] for name in given} == given
    assert resolve(RunOptions, [told]).num_clones == 2
    sections = {"optimizer": {"name": "adam", "beta1": 0.8}, "schedule": {"power": 2}}
    flat = {"optimizer": "adam", "optimizer.beta1": 0.8, "schedule.power": 2}
    assert RunConfig(options=sections).options == flat
    assert RunConfig(options=sections) == RunConfig(options=flat)


def test_options_of_the_caller_are_not_shared():
    given = {"transforms": ["a"]}
    config = RunConfig(options=given)
    config.options["transforms"].append("b")
    config.run_options()["transforms"].append("c")
    config.replace(model_dir="m").options["transforms"].append("d")
    given["transforms"].append("e")
    assert config.options == {"transforms": ["a"]}


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"random_seed": 3}, "tf_random_seed", 3),
        ({"save_summaries_steps": "20"}, "save_summary_steps", 20),
        ({"save_summaries_secs": 20}, "save_summary_steps", None),
        ({"save_checkpoint_secs": 20}, "save_checkpoints_secs", 20),
        ({"save_checkpoint_steps": 20}, "save_checkpoints_steps", 20),
        ({"save_checkpoint_steps": 20}, "save_checkpoints_secs", None),
        ({"max_to_keep": 9}, "keep_checkpoint_max", 9),
        ({"keep_checkpoint_every_n_hours": 2}, "keep_checkpoint_every_n_hours", 2),
        ({"keep_checkpoint_every_n_hours": None}, "keep_checkpoint_every_n_hours", 10000),
        ({"log_every_n_steps": 30}, "log_step_count_steps", 30),
        ({"log_every_n_steps": 0}, "log_step_count_steps", None),
    ],
)
def test_an_option_decides_where_its_field_was_not_given(options, field, value):
    config = RunConfig(options=options)
    assert getattr(config, field) == value
    replaced = RunConfig().replace(options=options)
    assert getattr(replaced, field) == value
    assert getattr(replaced.replace(options=None), field) == DEFAULTS[field]
    parsed = resolve(RunOptions, [config.run_options()])
    for name in options:
        assert getattr(parsed, name) == resolve(RunOptions, [options]).__dict__[name]


@pytest.mark.parametrize(
    ("field", "value", "options"),
    [
        ("tf_random_seed", 3, {"random_seed": 3}),
        ("save_summary_steps", 0, {"save_summaries_secs": 30}),
        ("save_summary_steps", None, {"save_summaries_steps": 0}),
        ("save_checkpoints_steps", 5, {"save_checkpoint_steps": 5}),
        ("save_checkpoints_steps", 5, {"save_checkpoint_secs": None}),
        ("keep_checkpoint_every_n_hours", 20000, {"keep_checkpoint_every_n_hours": None}),
        ("log_step_count_steps", None, {"log_every_n_steps": 0}),
    ],
)
def test_field_and_option_may_say_the_same(field, value, options):
    config = RunConfig(**{field: value}, options=options)
    assert getattr(config, field) == value
    resolve(RunOptions, [config.run_options()])


@pytest.mark.parametrize(
    ("field", "value", "options"),
    [
        ("tf_random_seed", 3, {"random_seed": 4}),
        ("save_summary_steps", 50, {"save_summaries_steps": 100}),
        ("save_summary_steps", 50, {"save_summaries_secs": 30}),
        ("save_checkpoints_secs", 5, {"save_checkpoint_secs": 6}),
        ("save_checkpoints_secs", 5, {"save_checkpoint_steps": 6}),
        ("save_checkpoints_steps", 5, {"save_checkpoint_secs": 6}),
        ("save_checkpoints_steps", None, {"save_checkpoint_steps": 6}),
        ("keep_checkpoint_max", 3, {"max_to_keep": 4}),
        ("keep_checkpoint_every_n_hours", 3, {"keep_checkpoint_every_n_hours": 4}),
        ("log_step_count_steps", 3, {"log_every_n_steps": 0}),
    ],
)
def test_field_and_option_that_differ_are_refused_by_name(field, value, options):
    ((name, said),) = options.items()
    message = (
        f"RunConfig({field}={value!r}) and options={{{name!r}: {said!r}}} say different things; "
        "leave out one of them"
    )
    for make in (
        lambda: RunConfig(**{field: value}, options=options),
        lambda: RunConfig(options=options).replace(**{field: value}),
        lambda: RunConfig(**{field: value}).replace(options=options),
    ):
        assert refusal(make) == (ValueError, message)


def test_a_default_that_is_replaced_explicitly_counts_as_given():
    config = RunConfig(options={"save_summaries_steps": 50})
    with pytest.raises(ValueError, match="say different things"):
        config.replace(save_summary_steps=100)
    assert config.replace(save_summary_steps=100, options={}).save_summary_steps == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_clone": 2}, "unknown option num_clone; did you mean num_clones?"),
        ({"num_clones": 0}, "--num_clones: 0 is out of range; allowed: 1 or more"),
        ({"num_clones": "two"}, "--num_clones: 'two' is not a whole number"),
        ({"transform": "a"}, "unknown option transform; write a list, transforms: [...]"),
        ({"transforms": "clip_by_norm:10"}, "'transforms' takes a list, found 'clip_by_norm:10'"),
        ({"hooks": {"a": 1}}, "'hooks' takes a list"),
        ({"optimizer": 3}, "'optimizer' takes a name, found 3"),
        ({"model_dir": "m"}, "model_dir does not belong there; it is an argument"),
        ({"plugin": "deeplab"}, "plugin does not belong there"),
        ({"input": "nuclei"}, "input does not belong there"),
        ({"model.depth": 3}, "model.depth does not belong there"),
        ({"versions": {}}, "versions does not belong there"),
        (["num_clones"], "expected a mapping of names to values, found ['num_clones']"),
        ([], "expected a mapping of names to values, found []"),
    ],
)
def test_wrong_options_are_refused_at_once(options, message):
    for make in (RunConfig, RunConfig().replace):
        error, text = refusal(make, options=options)
        assert error is ConfigError and message in text
