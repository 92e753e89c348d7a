import copy
import functools
import inspect
import pathlib

import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.estimator.run_config.run_config import RunConfig, maybe_overwrite_model_dir

from .conftest import DEFAULTS, GIVEN, on_cpu


def test_the_arguments_stand_in_their_old_order():
    parameters = inspect.signature(RunConfig).parameters
    old = list(DEFAULTS)
    old.insert(old.index("eval_distribute") + 1, "experimental_distribute")
    assert list(parameters) == [*old, "options"]
    assert parameters["options"].kind is inspect.Parameter.KEYWORD_ONLY
    defaults = {name: parameters[name].default for name in DEFAULTS}
    for name in ("save_checkpoints_steps", "save_checkpoints_secs"):
        defaults.pop(name)
    assert defaults.pop("session_config") is None
    assert defaults.pop("tf_random_seed") is None  # The seed of graphs is 1 then.
    assert defaults == {k: v for k, v in DEFAULTS.items() if k in defaults}


def test_every_property_begins_with_its_default():
    config = RunConfig()
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert (config.task_type, config.task_id, config.global_id_in_cluster) == ("worker", 0, 0)
    assert (config.num_ps_replicas, config.num_worker_replicas) == (0, 1)
    assert (config.master, config.evaluation_master, config.is_chief) == ("", "", True)
    assert config.service is None and config.options == {}
    assert config.cluster_spec == tf.train.ClusterSpec({}) and not config.cluster_spec
    assert not config.checkpoints_disabled


@pytest.mark.parametrize("way", ["by position", "by name", "replaced"])
def test_every_argument_becomes_its_property(way):
    if way == "replaced":
        config = RunConfig().replace(**GIVEN)
    else:
        config = RunConfig(*GIVEN.values()) if way == "by position" else RunConfig(**GIVEN)
    shown = {name: value for name, value in GIVEN.items() if name != "experimental_distribute"}
    assert {name: getattr(config, name) for name in shown} == shown


def test_the_folder_may_be_a_path_and_properties_are_read_only():
    for path in (pathlib.Path("a/b"), "a/b"):
        assert RunConfig(path).model_dir == RunConfig().replace(model_dir=path).model_dir == "a/b"
    for name in ("model_dir", "master", "save_summary_steps", "options"):
        with pytest.raises(AttributeError):
            setattr(RunConfig(), name, "x")


@pytest.mark.parametrize(
    ("given", "steps", "secs"),
    [
        ({}, None, 600),
        ({"save_checkpoints_steps": 5}, 5, None),
        ({"save_checkpoints_secs": 5}, None, 5),
        ({"save_checkpoints_steps": None}, None, None),
        ({"save_checkpoints_secs": None}, None, None),
        ({"save_checkpoints_steps": None, "save_checkpoints_secs": None}, None, None),
        ({"save_checkpoints_steps": 5, "save_checkpoints_secs": None}, 5, None),
        ({"save_checkpoints_steps": 0}, 0, None),
        ({"save_checkpoints_secs": 0}, None, 0),
    ],
)
def test_one_interval_of_checkpoints_leaves_the_other_out(given, steps, secs):
    config = RunConfig(**given)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (steps, secs)
    assert config.checkpoints_disabled == (not steps and not secs)


@pytest.mark.parametrize("make", [RunConfig, RunConfig().replace])
def test_two_intervals_of_checkpoints_are_refused(make):
    message = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
    arguments = {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1}
    assert refusal(make, **arguments) == (ValueError, message)


@pytest.mark.parametrize(
    ("first", "second", "steps", "secs"),
    [
        ({}, {"save_checkpoints_steps": 5}, 5, None),
        ({"save_checkpoints_steps": 5}, {"save_checkpoints_secs": 7}, None, 7),
        ({"save_checkpoints_steps": 5}, {"save_checkpoints_secs": None}, 5, None),
        ({}, {"save_checkpoints_secs": None}, None, None),
        ({}, {"save_checkpoints_secs": None, "save_checkpoints_steps": 2}, 2, None),
        ({}, {"model_dir": "m"}, None, 600),
    ],
)
def test_a_replaced_interval_unsets_the_other(first, second, steps, secs):
    config = RunConfig(**first).replace(**second)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (steps, secs)
    told = config.run_options()
    assert (told.get("save_checkpoint_steps"), told.get("save_checkpoint_secs")) == (steps, secs)


REFUSED = [
    ("save_summary_steps", -1, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", -1, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", -1, "save_checkpoints_secs should be >= 0"),
    ("session_config", {"a": 1}, "session_config must be instance of ConfigProto"),
    ("keep_checkpoint_max", -1, "keep_checkpoint_max should be >= 0"),
    ("keep_checkpoint_every_n_hours", 0, "keep_checkpoint_every_n_hours should be > 0"),
    ("log_step_count_steps", 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", 1.0, "tf_random_seed must be integer."),
    (
        "experimental_max_worker_delay_secs",
        1.5,
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    ("session_creation_timeout_secs", 0, "session_creation_timeout_secs should be > 0"),
    ("device_fn", "/cpu:0", 'device_fn must be callable with exactly one argument "op".'),
    ("protocol", "tcp", "protocol should be grpc or grpc+verbs"),
]


@pytest.mark.parametrize("make", [RunConfig, RunConfig().replace], ids=["new", "replaced"])
@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_values_out_of_range_are_refused_in_the_old_words(make, name, value, message):
    assert refusal(make, **{name: value}) == (ValueError, message)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("save_summary_steps", 0),
        ("keep_checkpoint_max", 0),
        ("protocol", "grpc"),
        *((name, None) for name in DEFAULTS if name not in ("session_config", "tf_random_seed")),
    ],
)
def test_zero_and_none_are_values(name, value):
    assert getattr(RunConfig(**{name: value}), name) == value


class Placer:
    def __call__(self, op):
        return "/cpu:0"

    method = __call__

    def other(self, operation):
        return "/cpu:0"


def two(op, more):
    return more


@pytest.mark.parametrize(
    "function",
    [on_cpu, lambda op: "", Placer().method, Placer(), functools.partial(two, more="/cpu:0")],
)
def test_a_device_function_takes_op(function):
    assert RunConfig(device_fn=function).device_fn is function


@pytest.mark.parametrize(
    "function",
    [lambda: "", lambda operation: "", two, Placer().other, functools.partial(on_cpu, None), type],
)
def test_a_device_function_of_other_arguments_is_refused(function):
    with pytest.raises(ValueError, match='callable with exactly one argument "op"'):
        RunConfig(device_fn=function)


@pytest.mark.parametrize("make", [RunConfig, RunConfig().replace], ids=["new", "replaced"])
@pytest.mark.parametrize("name", ["train_distribute", "eval_distribute", "experimental_distribute"])
def test_distribution_strategies_are_refused_with_what_there_is(make, name):
    with pytest.raises(ValueError, match=f'{name} is .*options={{"num_clones": N}}'):
        make(**{name: object()})


def test_an_empty_folder_is_refused():
    assert refusal(RunConfig, "") == (ValueError, "model_dir should be non-empty.")
    error = ValueError, "model_dir should be non-empty"
    assert refusal(RunConfig().replace, model_dir="") == error


@pytest.mark.parametrize("name", ["master", "task_type", "is_chief", "nonsense"])
def test_only_arguments_can_be_replaced(name):
    with pytest.raises(ValueError, match=f"^Replacing {name} is not supported. Allowed properties"):
        RunConfig().replace(**{name: 1})


def test_replacing_makes_a_copy(in_cluster):
    in_cluster("worker", 1)
    first = RunConfig("m", options={"num_clones": 2})
    in_cluster()
    second = first.replace(save_summary_steps=3)
    assert (first.save_summary_steps, second.save_summary_steps) == (100, 3)
    assert second.model_dir == "m" and second.options == {"num_clones": 2}
    assert second.task_id == 1 and second.master == "grpc://w1:1"  # TF_CONFIG is read once.
    second.session_config.log_device_placement = True
    assert not first.session_config.log_device_placement

    class Mine(RunConfig):
        pass

    assert type(Mine().replace(model_dir="m")) is Mine
    assert type(maybe_overwrite_model_dir(Mine(), "m")) is Mine


def test_configurations_are_equal_by_their_values_which_are_shown(in_cluster):
    given = {**GIVEN, "device_fn": Placer().method}
    config = RunConfig(**given, options={"optimizer": "adam"})
    assert config == copy.deepcopy(config) == RunConfig(**given, options={"optimizer": "adam"})
    assert hash(config) == hash(copy.deepcopy(config))
    assert config != config.replace(save_summary_steps=50)
    assert config != config.replace(options={"optimizer": "sgd"})
    assert config != config.replace(device_fn=on_cpu)
    assert RunConfig() != "RunConfig"
    text = repr(RunConfig("m", options={"num_clones": 2}))
    assert text.startswith("RunConfig(model_dir='m', tf_random_seed=1, save_summary_steps=100")
    assert "'num_clones': 2" in text and "task_type='worker'" in text
    in_cluster("worker", 1)
    assert config != RunConfig(**given, options={"optimizer": "adam"})
