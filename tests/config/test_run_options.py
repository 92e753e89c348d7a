import pytest

from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions, run_options, without_effect
from tf_frame.errors import ConfigError

CLUSTER = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 2}
SYNC = {**CLUSTER, "worker_replicas": 4, "sync_replicas": True, "batch_size_scope": "global"}


def test_the_defaults_are_valid_and_within_their_bounds():
    config = RunOptions()
    for option in run_options():
        assert option.parse(getattr(config, option.name)) == option.default


def test_workers_without_parameter_servers_average_their_gradients():
    config = RunOptions(worker_replicas=4, master="grpc://localhost:1", batch_size_scope="global")
    assert config.all_reduce
    assert config.aggregated_replicas == 4
    assert config.clone_batch_size == config.train_batch_size // 4
    assert not without_effect(config, RunOptions(batch_size_scope="worker"))


@pytest.mark.parametrize(
    ("idle", "used", "line"),
    [
        (
            {"warm_start_map": ("a=b",), "warm_start_exclude": ("c",)},
            {"warm_start_from": "x"},
            "--warm_start_exclude, --warm_start_map have no effect without --warm_start_from",
        ),
        (
            {"eval_moving_averages": False},
            {"moving_average_decay": 0.9},
            "--eval_moving_averages has no effect without --moving_average_decay",
        ),
        (
            {"moving_average_num_updates": False, "moving_average_decay": 0.0},
            {"moving_average_decay": 0.5},
            "--moving_average_num_updates has no effect without --moving_average_decay",
        ),
        (
            {"replicas_to_aggregate": 2, "batch_size_scope": "global"},
            {"sync_replicas": True, **CLUSTER},
            "--replicas_to_aggregate, --batch_size_scope have no effect without --sync_replicas",
        ),
        (
            {"summarize_gradients": True, "save_summaries_steps": 0},
            {"save_summaries_steps": 5},
            "--summarize_gradients has no effect without --save_summaries_steps or "
            "--save_summaries_secs",
        ),
        (
            {"save_summaries_steps": None, "loss_average_decay": 0.5, "summarize_variables": True},
            {"save_summaries_secs": 5},
            "--summarize_variables, --loss_average_decay have no effect without "
            "--save_summaries_steps or --save_summaries_secs",
        ),
        (
            {"best_metric": "accuracy", "best_mode": "max"},
            {"keep_best": 1},
            "--best_metric, --best_mode have no effect without --keep_best",
        ),
        (
            {"profile_num_steps": 3, "profile_dir": "a", "profile_all_workers": True},
            {"profile_at_step": (7,)},
            "--profile_num_steps, --profile_dir, --profile_all_workers have no effect without "
            "--profile_at_step or --profile_every_n_steps",
        ),
        (
            {"profile_num_steps": 3},
            {"profile_every_n_steps": 7},
            "--profile_num_steps has no effect without --profile_at_step "
            "or --profile_every_n_steps",
        ),
        (
            {"trace_memory": True},
            {"trace_every_n_steps": 7},
            "--trace_memory has no effect without --trace_at_step or --trace_every_n_steps",
        ),
        (
            {"trace_memory": True},
            {"trace_at_step": (7,)},
            "--trace_memory has no effect without --trace_at_step or --trace_every_n_steps",
        ),
        (
            {"placement": "balanced"},
            CLUSTER,
            "--placement has no effect with fewer than two parameter servers (--num_ps_tasks)",
        ),
        (
            {"placement": "balanced", **CLUSTER, "num_ps_tasks": 1},
            CLUSTER,
            "--placement has no effect with fewer than two parameter servers (--num_ps_tasks)",
        ),
        (
            {"warmup": "linear"},
            {"warmup_steps": 5},
            "--warmup has no effect without --warmup_steps",
        ),
        (
            {"profile_every_n_steps": 21, "max_steps": 20},
            {"profile_every_n_steps": 20},
            "--profile_every_n_steps has no effect beyond --max_steps",
        ),
        (  # The last step is evaluated in any case.
            {"eval_every_n_steps": 20, "max_steps": 20},
            {"eval_every_n_steps": 19},
            "--eval_every_n_steps has no effect unless it is below --max_steps",
        ),
        (
            {"keep_best": 1, "evaluate": False},
            {"eval_every_n_steps": 5},
            "--keep_best has no effect without --evaluate or --eval_every_n_steps or "
            "--eval_every_secs",
        ),
        ({"keep_best": 0}, {}, None),
        (
            {"quantize_delay_step": 50, "max_steps": 50},
            {"max_steps": 51},
            "--quantize_delay_step has no effect unless it is below --max_steps",
        ),
    ],
)
def test_an_option_that_changes_nothing_is_named(idle, used, line):
    assert without_effect(RunOptions(**idle), RunOptions()) == ([line] if line else [])
    assert without_effect(RunOptions(**{**idle, **used}), RunOptions()) == []


def test_a_default_of_the_model_is_not_reported():
    defaults = RunOptions(warmup="linear", warmup_steps=20, placement="balanced")
    config = RunOptions(warmup="linear", warmup_steps=0, placement="balanced")
    assert without_effect(config, defaults) == []


def test_every_required_option_exists():
    names = {option.name for option in run_options()}
    assert {name for option in run_options() for name in option.requires} < names


def test_the_best_metric_has_the_direction_of_its_name_or_of_the_mode():
    assert RunOptions().best_is_highest is False
    assert RunOptions(best_metric="mean_iou").best_is_highest is True
    assert RunOptions(keep_best=1, best_metric="mean_iou", best_mode="min").best_is_highest is False


@pytest.mark.parametrize(
    ("options", "of_clone", "of_worker"),
    [
        ({"train_batch_size": 12, "num_clones": 3}, 4, 12),
        ({"train_batch_size": 5, "num_clones": 3, "batch_size_scope": "clone"}, 5, 15),
        ({"train_batch_size": 24, **SYNC}, 6, 6),
        ({"train_batch_size": 24, "replicas_to_aggregate": 3, **SYNC}, 8, 8),
    ],
)
def test_the_batch_is_divided_by_its_scope(options, of_clone, of_worker):
    config = RunOptions(**options)
    assert (config.clone_batch_size, config.worker_batch_size) == (of_clone, of_worker)


ONE = {"master": "grpc://localhost:1"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"train_batch_size": 8, "num_clones": 3},
            r"--train_batch_size 8 .*--num_clones 3; .* of 3",
        ),
        ({"train_batch_size": 25, **SYNC}, "25 is not divisible by .* times 4 aggregated replicas"),
        ({"sync_replicas": True, "startup_delay_steps": 5, **ONE}, "must be zero .*; it is 5"),
        ({**CLUSTER, "sync_replicas": True, "num_clones": 2}, "must be 1. Found num_clones: 2"),
        (
            {"worker_replicas": 2, "sync_replicas": True, **ONE},
            "--sync_replicas is for parameter servers; --worker_replicas 2 without",
        ),
        (
            {"worker_replicas": 2, "startup_delay_steps": 3, **ONE},
            "take every step together; leave out --startup_delay_steps 3",
        ),
        ({"moving_average_decay": 1.0}, "--moving_average_decay 1: an average that never moves"),
        ({"loss_average_decay": 1.0}, "--loss_average_decay 1: an average that never moves"),
        ({"recompute": ("net",), "xla": True}, "--recompute has no effect with --xla"),
        ({"environment": ("A",)}, "--environment A: expected NAME=VALUE"),
        ({"graph_hook": "nocolon"}, "--graph_hook nocolon: expected module:function"),
        ({"warmup": "exponential", "warmup_steps": 3, "learning_rate": 0}, "--learning_rate 0: an"),
        (
            {"warmup": "exponential", "warmup_steps": 3, "warmup_learning_rate": 0},
            "--warmup_learning_rate 0: an exponential warm-up needs a positive",
        ),
        ({"save_checkpoint_secs": None}, "exactly one of .*; they are none and none"),
        (
            {"save_checkpoint_secs": 60, "save_checkpoint_steps": 100},
            "exactly one of .*; they are 60 and 100",
        ),
        (
            {"save_summaries_secs": 60, "save_summaries_steps": 5},
            "give one of --save_summaries_secs .* are 60 and 5",
        ),
        ({"profile_every_n_steps": 2}, "--profile_every_n_steps 2 with --profile_num_steps 8"),
        (
            {"keep_best": 1, "best_metric": "wer"},
            "'wer' .*, or give --best_mode max or --best_mode min",
        ),
    ],
)
def test_values_that_do_not_fit_together_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RunOptions(**options)


@pytest.mark.parametrize(
    ("options", "writes"),
    [
        ({"save_summaries_secs": 60, "save_summaries_steps": 0}, True),
        ({"save_summaries_secs": 60, "save_summaries_steps": None}, True),
        ({"save_summaries_steps": 0}, False),
        ({"save_summaries_steps": None}, False),
        ({"save_summaries_steps": 5}, True),
        # Further values that are allowed.
        ({"num_ps_tasks": 4, "show_placement": True}, True),
        ({"save_checkpoint_secs": None, "save_checkpoint_steps": 5}, True),
        ({"profile_every_n_steps": 9}, True),
        ({"best_metric": "wer"}, True),
    ],
)
def test_summaries_are_written_by_steps_or_seconds_or_not(options, writes):
    config = RunOptions(**options)
    assert config.writes_summaries is writes
    assert all(getattr(config, name) == value for name, value in options.items())


@pytest.mark.parametrize(
    ("names", "wrong", "least"),
    [
        ("steps_per_loop save_checkpoint_steps profile_num_steps profile_keep", 0, 1),
        ("save_summaries_secs", 0, 1),
        ("max_to_keep eval_every_n_steps keep_best profile_every_n_steps", -1, 0),
        ("trace_every_n_steps save_summaries_steps log_every_n_steps", -1, 0),
        ("keep_checkpoint_every_n_hours", 0, 0.5),
        ("keep_checkpoint_every_n_hours save_checkpoint_secs", -1, 0.5),
        ("save_checkpoint_secs", 0.0, 0.5),
        ("profile_at_step trace_at_step", "0", (1, 5)),
        ("profile_at_step trace_at_step", "5,-1", (1, 5)),
    ],
)
def test_values_have_a_lower_bound(names, wrong, least):
    for name in names.split():
        with pytest.raises(ConfigError, match=f"--{name}: .*is out of range"):
            resolve(RunOptions, [{name: wrong}])
        others = {"save_summaries_steps": None} if name == "save_summaries_secs" else {}
        assert getattr(resolve(RunOptions, [{name: least, **others}]), name) == least


@pytest.mark.parametrize(
    ("name", "choices"), [("on_nan", "raise, stop"), ("best_mode", "min, max")]
)
def test_a_word_that_is_no_choice_is_answered_with_the_choices(name, choices):
    with pytest.raises(ConfigError, match=f"--{name}: 'ignore'.*{choices}"):
        resolve(RunOptions, [{name: "ignore"}])
