import copy
import functools
import inspect
import json
import pathlib

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.estimator.run_config.run_config import (
    RunConfig,
    default_session_config,
    maybe_overwrite_model_dir,
)

CLUSTER = {"chief": ["c:1"], "ps": ["p0:1", "p1:1"], "worker": ["w0:1", "w1:1"]}
DEFAULTS = {
    "model_dir": None,
    "tf_random_seed": None,
    "save_summary_steps": 100,
    "save_checkpoints_steps": None,
    "save_checkpoints_secs": 600,
    "session_config": default_session_config(),
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
    "train_distribute": None,
    "device_fn": None,
    "protocol": None,
    "eval_distribute": None,
    "experimental_max_worker_delay_secs": None,
    "session_creation_timeout_secs": 7200,
    "checkpoint_save_graph_def": True,
}
BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."


def on_cpu(op):
    return "/cpu:0"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)


@pytest.fixture
def in_cluster(monkeypatch):
    """Makes this process a task of a cluster, or of none."""

    def become(task_type=None, index=0, cluster=CLUSTER, **more):
        task = {"cluster": cluster, "task": {"type": task_type, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps({**(task if task_type else {}), **more}))

    return become


@pytest.fixture
def logged(monkeypatch):
    """Messages in TensorFlow's log, `(level, text)` each."""
    lines = []
    for level in ("info", "warning"):
        monkeypatch.setattr(
            tf.logging, level, lambda text, *args, at=level: lines.append((at, text % args))
        )
    return lines


# Arguments


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


GIVEN = {
    "model_dir": "/tmp/model",
    "tf_random_seed": 7,
    "save_summary_steps": 2,
    "save_checkpoints_steps": 3,
    "save_checkpoints_secs": None,
    "session_config": tf.ConfigProto(allow_soft_placement=False),
    "keep_checkpoint_max": 4,
    "keep_checkpoint_every_n_hours": 1.5,
    "log_step_count_steps": 6,
    "train_distribute": None,
    "device_fn": on_cpu,
    "protocol": "grpc+verbs",
    "eval_distribute": None,
    "experimental_distribute": None,
    "experimental_max_worker_delay_secs": 8,
    "session_creation_timeout_secs": 9,
    "checkpoint_save_graph_def": False,
}


@pytest.mark.parametrize("way", ["by position", "by name", "replaced"])
def test_every_argument_becomes_its_property(way):
    if way == "replaced":
        config = RunConfig().replace(**GIVEN)
    else:
        config = RunConfig(*GIVEN.values()) if way == "by position" else RunConfig(**GIVEN)
    shown = {name: value for name, value in GIVEN.items() if name != "experimental_distribute"}
    assert {name: getattr(config, name) for name in shown} == shown


@pytest.mark.parametrize("name", ["model_dir", "master", "save_summary_steps", "options"])
def test_properties_are_read_only(name):
    with pytest.raises(AttributeError):
        setattr(RunConfig(), name, "x")


@pytest.mark.parametrize("path", [pathlib.Path("a/b"), "a/b"])
def test_the_folder_may_be_a_path(path):
    assert RunConfig(path).model_dir == "a/b"
    assert RunConfig().replace(model_dir=path).model_dir == "a/b"


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
    with pytest.raises(ValueError) as caught:
        make(save_checkpoints_steps=1, save_checkpoints_secs=1)
    assert str(caught.value) == BOTH


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
    with pytest.raises(ValueError) as caught:
        make(**{name: value})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("save_summary_steps", 0),
        ("keep_checkpoint_max", 0),
        ("protocol", "grpc"),
        *((name, None) for name in DEFAULTS if name != "session_config"),
    ],
)
def test_zero_and_none_are_values(name, value):
    assert getattr(RunConfig(**{name: value}), name) == value


class Placer:
    def method(self, op):
        return "/cpu:0"

    def __call__(self, op):
        return "/cpu:0"

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
    with pytest.raises(ValueError, match=f"{name} is .*num_clones") as caught:
        make(**{name: object()})
    assert 'options={"num_clones": N}' in str(caught.value)


def test_an_empty_folder_is_refused():
    with pytest.raises(ValueError) as caught:
        RunConfig("")
    assert str(caught.value) == "model_dir should be non-empty."
    with pytest.raises(ValueError) as caught:
        RunConfig().replace(model_dir="")
    assert str(caught.value) == "model_dir should be non-empty"


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


def test_subclasses_stay_what_they_are():
    class Mine(RunConfig):
        pass

    assert type(Mine().replace(model_dir="m")) is Mine
    assert maybe_overwrite_model_dir(Mine(), "m").__class__ is Mine


def test_configurations_are_equal_by_their_values(in_cluster):
    given = {**GIVEN, "device_fn": Placer().method}
    config = RunConfig(**given, options={"optimizer": "adam"})
    assert config == copy.deepcopy(config) == RunConfig(**given, options={"optimizer": "adam"})
    assert hash(config) == hash(copy.deepcopy(config))
    assert config != config.replace(save_summary_steps=50)
    assert config != config.replace(options={"optimizer": "sgd"})
    assert config != config.replace(device_fn=on_cpu)
    assert RunConfig() != "RunConfig"
    in_cluster("worker", 1)
    assert config != RunConfig(**given, options={"optimizer": "adam"})


def test_what_is_shown_names_every_field():
    text = repr(RunConfig("m", options={"num_clones": 2}))
    assert text.startswith("RunConfig(model_dir='m', tf_random_seed=None, save_summary_steps=100")
    assert "'num_clones': 2" in text and "task_type='worker'" in text


# TF_CONFIG; tests/cluster/test_tf_config.py has the rules themselves


@pytest.mark.parametrize(
    ("task_type", "index", "master", "global_id", "task", "filters"),
    [
        ("chief", 0, "grpc://c:1", 0, 0, ["/job:ps", "/job:chief"]),
        ("worker", 0, "grpc://w0:1", 1, 1, ["/job:ps", "/job:worker/task:0"]),
        ("worker", 1, "grpc://w1:1", 2, 2, ["/job:ps", "/job:worker/task:1"]),
        ("ps", 1, "grpc://p1:1", 4, None, ["/job:ps", "/job:worker", "/job:chief", "/job:master"]),
    ],
)
def test_a_task_of_a_cluster(in_cluster, task_type, index, master, global_id, task, filters):
    in_cluster(task_type, index)
    config = RunConfig()
    assert (config.task_type, config.task_id) == (task_type, index)
    assert (config.master, config.evaluation_master) == (master, "")
    assert config.is_chief == (task_type == "chief")
    assert (config.num_ps_replicas, config.num_worker_replicas) == (2, 3)
    assert config.global_id_in_cluster == global_id
    assert config.cluster_spec == tf.train.ClusterSpec(CLUSTER)
    assert config.cluster.master == master
    proto = default_session_config()
    proto.device_filters.extend(filters)
    assert config.session_config == proto
    told = config.run_options()
    assert [told.get(name) for name in ("master", "task", "worker_replicas", "num_ps_tasks")] == (
        [None] * 4 if task is None else [master, task, 3, 2]
    )


def test_a_cluster_with_a_master(in_cluster):
    in_cluster("master", 0, cluster={"master": ["m:1"], "ps": ["p:1"]})
    config = RunConfig()
    assert (config.task_type, config.is_chief, config.master) == ("master", True, "grpc://m:1")
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:master"]


def test_an_evaluator(in_cluster):
    in_cluster("evaluator", 0, eval_session_master="grpc://e:1")
    config = RunConfig()
    assert (config.task_type, config.master) == ("evaluator", "")
    assert config.evaluation_master == "grpc://e:1"
    assert (config.num_ps_replicas, config.num_worker_replicas) == (0, 0)
    assert config.is_chief is False and config.global_id_in_cluster is None
    assert config.cluster_spec == tf.train.ClusterSpec({})
    assert config.session_config == default_session_config()


def test_fields_of_the_default_session_config_can_be_set():
    config = RunConfig(session_config=None)
    config.session_config.gpu_options.allow_growth = True
    assert config.replace(model_dir="m").session_config.gpu_options.allow_growth
    assert maybe_overwrite_model_dir(config, "m").session_config.gpu_options.allow_growth
    assert not RunConfig().session_config.gpu_options.allow_growth


def test_a_cluster_without_a_parameter_server_all_reduces(in_cluster):
    in_cluster("worker", 1, cluster={"chief": ["c:1"], "worker": ["w0:1", "w1:1"]})
    config = RunConfig()
    assert config.num_worker_replicas == 3
    assert config.run_options()["worker_replicas"] == 3
    assert config.run_options()["num_ps_tasks"] == 0


def test_a_cluster_of_one_task(in_cluster):
    in_cluster("chief", 0, cluster={"chief": ["a:1"]})
    config = RunConfig()
    assert (config.master, config.num_worker_replicas, config.is_chief) == ("", 1, True)
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:chief"]


def test_a_session_configuration_of_ones_own_has_no_filters(in_cluster):
    in_cluster("worker", 1)
    own = tf.ConfigProto(log_device_placement=True)
    assert RunConfig(session_config=own).session_config == own


def test_service_and_session_targets_without_a_cluster(in_cluster):
    in_cluster(service={"a": 1}, session_master="grpc://s:1", eval_session_master="grpc://e:1")
    config = RunConfig()
    assert config.service == {"a": 1}
    assert (config.master, config.evaluation_master) == ("grpc://s:1", "grpc://e:1")
    assert config.run_options()["master"] == "grpc://s:1"


def test_errors_of_tf_config_come_through(in_cluster, monkeypatch):
    in_cluster("worker", 2)
    with pytest.raises(ValueError, match="2 is not a valid task_id for task_type worker"):
        RunConfig()
    in_cluster(service="x")
    with pytest.raises(TypeError, match='If "service" is set in TF_CONFIG, it must be a dict'):
        RunConfig()
    monkeypatch.setenv("TF_CONFIG", "{")
    with pytest.raises(json.JSONDecodeError):
        RunConfig()


def test_tf_config_may_name_the_folder(in_cluster, logged):
    in_cluster(model_dir="/from")
    assert RunConfig().model_dir == RunConfig("/from").model_dir == "/from"
    assert logged[:2] == [
        ("info", "TF_CONFIG environment variable: {'model_dir': '/from'}"),
        ("info", "Using model_dir in TF_CONFIG: /from"),
    ]
    with pytest.raises(ValueError) as caught:
        RunConfig("/other")
    assert str(caught.value) == (
        "`model_dir` provided in RunConfig construct, if set, must have the same value as the "
        'model_dir in TF_CONFIG. model_dir: /other\nTF_CONFIG["model_dir"]: /from.\n'
    )
    in_cluster(model_dir="")
    with pytest.raises(ValueError) as caught:
        RunConfig()
    assert str(caught.value) == "model_dir in TF_CONFIG should be non-empty."


# Run options


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


def test_sections_become_dotted_names():
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
        with pytest.raises(ValueError) as caught:
            make()
        assert str(caught.value) == message


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
        with pytest.raises(ConfigError) as caught:
            make(options=options)
        assert message in str(caught.value)


def test_options_may_describe_a_cluster_as_the_command_line_does():
    options = {"master": "grpc://w1:1", "task": 1, "worker_replicas": 3, "num_ps_tasks": 2}
    config = RunConfig(options=options)
    assert (config.master, config.task_id, config.is_chief) == ("grpc://w1:1", 1, False)
    assert (config.num_worker_replicas, config.num_ps_replicas) == (3, 2)
    assert config.global_id_in_cluster == 1
    told = config.run_options()
    assert {name: told[name] for name in options} == options
    assert config.replace(options={**options, "task": 0}).is_chief
    assert RunConfig(options={"task": 0}).is_chief


def test_options_and_tf_config_must_describe_the_same_cluster(in_cluster):
    in_cluster("worker", 1)
    same = {"task": 2, "worker_replicas": 3, "num_ps_tasks": 2, "master": "grpc://w1:1"}
    config = RunConfig(options=same)
    assert config.task_id == 1 and config.run_options()["task"] == 2
    for name, other in [("task", 1), ("worker_replicas", 4), ("num_ps_tasks", 1), ("master", "")]:
        with pytest.raises(ValueError) as caught:
            RunConfig(options={name: other})
        assert str(caught.value) == (
            f"TF_CONFIG means {name}={same[name]!r} and options={{{name!r}: {other!r}}} says "
            "another; leave out one of them"
        )


@pytest.mark.parametrize("task_type", ["ps", "evaluator"])
def test_a_task_that_does_not_train_passes_over_the_cluster_of_the_options(in_cluster, task_type):
    in_cluster(task_type, 0)
    config = RunConfig(options={"worker_replicas": 3, "num_ps_tasks": 2, "num_clones": 2})
    told = config.run_options()
    assert told["num_clones"] == 2 and config.task_type == task_type
    assert not {"master", "task", "worker_replicas", "num_ps_tasks"} & told.keys()
    resolve(RunOptions, [told])


# The folder of an Estimator


def test_an_estimator_gets_a_configuration_with_folder_and_session(logged):
    config = maybe_overwrite_model_dir(None, "m")
    assert config == RunConfig("m", session_config=default_session_config())
    assert logged == [("info", "Using default config.")]


@pytest.mark.parametrize("path", ["m", pathlib.Path("m")])
def test_the_folder_of_either_is_taken(path):
    assert maybe_overwrite_model_dir(RunConfig(), path).model_dir == "m"
    assert maybe_overwrite_model_dir(RunConfig("m"), None).model_dir == "m"
    assert maybe_overwrite_model_dir(RunConfig("m"), path).model_dir == "m"


@pytest.mark.parametrize("other", ["n", ""])
def test_two_folders_are_refused(other):
    with pytest.raises(ValueError) as caught:
        maybe_overwrite_model_dir(RunConfig("m"), other)
    assert str(caught.value) == (
        "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
        f"In constructor: '{other}', in `RunConfig`: 'm' "
    )


def test_the_folder_of_tf_config_counts(in_cluster):
    in_cluster(model_dir="/from")
    assert maybe_overwrite_model_dir(None, None).model_dir == "/from"
    with pytest.raises(ValueError, match="In constructor: 'm', in `RunConfig`: '/from'"):
        maybe_overwrite_model_dir(None, "m")


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_folder_there_is_a_temporary_one(monkeypatch, tmp_path, logged, nothing):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    config = maybe_overwrite_model_dir(RunConfig(), nothing)
    (made,) = tmp_path.iterdir()
    assert made.is_dir() and config.model_dir == str(made)
    assert logged == [("warning", f"Using temporary folder as model directory: {made}")]


def test_a_session_configuration_is_kept():
    own = tf.ConfigProto(log_device_placement=True)
    config = RunConfig("m", session_config=own)
    assert maybe_overwrite_model_dir(config, None).session_config == own


def test_the_default_session_configuration_places_softly_and_optimises_once():
    proto = default_session_config()
    assert proto.allow_soft_placement and not proto.device_filters
    rewriting = proto.graph_options.rewrite_options
    assert rewriting.meta_optimizer_iterations == rewriting.ONE != rewriting.TWO


DEVICES = {"gpus": [0, 2], "gpu_memory_growth": True, "gpu_memory_fraction": 0.8}


def test_the_default_session_configuration_has_the_devices_of_the_options():
    options = {**DEVICES, "intra_op_threads": 3, "max_steps": 5}
    proto = maybe_overwrite_model_dir(RunConfig("m", options=options), None).session_config
    assert proto.gpu_options.visible_device_list == "0,2"
    assert proto.gpu_options.allow_growth
    assert proto.gpu_options.per_process_gpu_memory_fraction == 0.8
    assert proto.intra_op_parallelism_threads == 3
    own = tf.ConfigProto(log_device_placement=True)
    config = maybe_overwrite_model_dir(RunConfig("m", session_config=own, options=options), None)
    assert config.session_config == own


def test_a_task_of_a_cluster_has_the_devices_of_the_options(in_cluster):
    in_cluster("chief", 0)
    proto = RunConfig(options={"gpus": "1"}).session_config
    assert proto.gpu_options.visible_device_list == "1"
    assert proto.device_filters


def test_something_else_is_no_configuration():
    with pytest.raises(ValueError) as caught:
        maybe_overwrite_model_dir({"model_dir": "m"}, None)
    assert str(caught.value) == (
        "config must be an instance of `RunConfig`, but provided {'model_dir': 'm'}."
    )


def test_options_of_a_copy_change_the_default_session_config():
    config = RunConfig()
    config.session_config.log_device_placement = True
    proto = config.replace(options=DEVICES).session_config
    assert proto.gpu_options.visible_device_list == "0,2"
    assert proto.log_device_placement
    own = tf.ConfigProto(allow_soft_placement=True)
    assert RunConfig(session_config=own).replace(options=DEVICES).session_config == own
