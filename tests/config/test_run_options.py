import pytest

from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions, run_options, without_effect
from tf_frame.errors import ConfigError


def test_the_defaults_are_valid_and_within_their_bounds():
    config = RunOptions()
    for option in run_options():
        assert option.parse(getattr(config, option.name)) == option.default


def test_the_batch_is_split_over_the_clones():
    assert RunOptions(train_batch_size=12, num_clones=3).clone_batch_size == 4


def test_a_batch_that_the_clones_cannot_share_is_refused():
    with pytest.raises(ConfigError, match=r"--train_batch_size 8 .*--num_clones 3; .* of 3"):
        RunOptions(train_batch_size=8, num_clones=3)


def test_the_batch_may_be_that_of_each_clone():
    config = RunOptions(train_batch_size=5, num_clones=3, batch_size_scope="clone")
    assert (config.clone_batch_size, config.worker_batch_size) == (5, 15)
    assert RunOptions(train_batch_size=6, num_clones=3).worker_batch_size == 6


def test_the_batch_may_be_that_of_all_aggregated_workers():
    cluster = {"master": "grpc://localhost:1", "worker_replicas": 4, "num_ps_tasks": 1}
    sync = {"sync_replicas": True, "batch_size_scope": "global", **cluster}
    assert RunOptions(train_batch_size=24, **sync).clone_batch_size == 6
    assert RunOptions(train_batch_size=24, replicas_to_aggregate=3, **sync).clone_batch_size == 8
    with pytest.raises(ConfigError, match="25 is not divisible by .* times 4 aggregated replicas"):
        RunOptions(train_batch_size=25, **sync)


def test_a_layout_may_be_looked_at_without_a_cluster():
    assert RunOptions(num_ps_tasks=4, show_placement=True).num_ps_tasks == 4


TWO_WORKERS = {"worker_replicas": 2, "num_ps_tasks": 1, "master": "grpc://localhost:1"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sync_replicas": True, "startup_delay_steps": 5}, "must be zero .*; it is 5"),
        (
            {"sync_replicas": True, "num_clones": 2, **TWO_WORKERS},
            "num_clones must be 1. Found num_clones: 2",
        ),
        (
            {"worker_replicas": 2, "sync_replicas": True},
            "--sync_replicas is for parameter servers; --worker_replicas 2 without",
        ),
        (
            {"worker_replicas": 2, "startup_delay_steps": 3},
            "take every step together; leave out --startup_delay_steps 3",
        ),
    ],
)
def test_a_cluster_that_does_not_fit_together_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RunOptions(**{"master": "grpc://localhost:1", **options})


def test_workers_without_parameter_servers_average_their_gradients():
    config = RunOptions(worker_replicas=4, master="grpc://localhost:1", batch_size_scope="global")
    assert config.all_reduce
    assert config.aggregated_replicas == 4
    assert config.clone_batch_size == config.train_batch_size // 4
    assert not without_effect(config, RunOptions(batch_size_scope="worker"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moving_average_decay": 1.0}, "--moving_average_decay 1: an average that never moves"),
        ({"loss_average_decay": 1.0}, "--loss_average_decay 1: an average that never moves"),
        ({"graph_hook": "nocolon"}, "--graph_hook nocolon: expected module:function"),
        ({"warmup": "exponential", "warmup_steps": 3, "learning_rate": 0}, "--learning_rate 0: an"),
        (
            {"warmup": "exponential", "warmup_steps": 3, "warmup_learning_rate": 0},
            "--warmup_learning_rate 0: an exponential warm-up needs a positive",
        ),
    ],
)
def test_values_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RunOptions(**options)


@pytest.mark.parametrize(("secs", "steps"), [(None, None), (60, 100)])
def test_checkpoints_have_exactly_one_cadence(secs, steps):
    with pytest.raises(
        ConfigError, match=f"exactly one of .*; they are {secs or 'none'} and {steps or 'none'}"
    ):
        RunOptions(save_checkpoint_secs=secs, save_checkpoint_steps=steps)


def test_summaries_have_one_cadence_or_none():
    with pytest.raises(ConfigError, match="give one of --save_summaries_secs .* are 60 and 5"):
        RunOptions(save_summaries_secs=60, save_summaries_steps=5)
    for steps in (0, None):
        by_secs = RunOptions(save_summaries_secs=60, save_summaries_steps=steps)
        assert by_secs.writes_summaries
        assert not RunOptions(save_summaries_steps=steps).writes_summaries
    assert RunOptions(save_summaries_steps=5).writes_summaries


@pytest.mark.parametrize("name", ["profile_at_step", "trace_at_step"])
@pytest.mark.parametrize(("steps", "wrong"), [("0", 0), ("5,-1", -1)])
def test_a_profile_begins_at_the_first_step_or_later(name, steps, wrong):
    with pytest.raises(ConfigError, match=f"--{name}: {wrong} is out of range; allowed: 1 or"):
        resolve(RunOptions, [{name: steps}])
    assert getattr(resolve(RunOptions, [{name: "1,5"}]), name) == (1, 5)


AT_LEAST_ONE = (
    "steps_per_loop",
    "save_checkpoint_steps",
    "profile_num_steps",
    "profile_keep",
    "save_summaries_secs",
)
NOT_NEGATIVE = (
    "max_to_keep",
    "eval_every_n_steps",
    "keep_best",
    "profile_every_n_steps",
    "trace_every_n_steps",
    "save_summaries_steps",
    "log_every_n_steps",
)


@pytest.mark.parametrize(
    ("name", "least"), [(n, 1) for n in AT_LEAST_ONE] + [(n, 0) for n in NOT_NEGATIVE]
)
def test_a_cadence_is_not_negative(name, least):
    with pytest.raises(ConfigError, match=f"--{name}: {least - 1} is out of range"):
        resolve(RunOptions, [{name: least - 1}])
    other = {"save_summaries_steps": None} if name == "save_summaries_secs" else {}
    assert getattr(resolve(RunOptions, [{name: least, **other}]), name) == least


@pytest.mark.parametrize("hours", [0, -1])
def test_hours_between_kept_checkpoints_are_positive(hours):
    with pytest.raises(ConfigError, match=f"--keep_checkpoint_every_n_hours: {hours}"):
        resolve(RunOptions, [{"keep_checkpoint_every_n_hours": hours}])


@pytest.mark.parametrize("secs", [0.0, -1.0])
def test_seconds_between_checkpoints_are_positive(secs):
    with pytest.raises(ConfigError, match=f"--save_checkpoint_secs: {secs} is out of range"):
        resolve(RunOptions, [{"save_checkpoint_secs": secs}])
    assert resolve(RunOptions, [{"save_checkpoint_secs": 0.5}]).save_checkpoint_secs == 0.5


@pytest.mark.parametrize(
    ("name", "choices"), [("on_nan", "raise, stop"), ("best_mode", "min, max")]
)
def test_a_word_that_is_no_choice_is_answered_with_the_choices(name, choices):
    with pytest.raises(ConfigError, match=f"--{name}: 'ignore'.*{choices}"):
        resolve(RunOptions, [{name: "ignore"}])


def test_checkpoints_may_go_by_steps():
    config = RunOptions(save_checkpoint_secs=None, save_checkpoint_steps=5)
    assert config.save_checkpoint_steps == 5


def test_profiles_without_end_are_refused_before_anything_is_built():
    with pytest.raises(ConfigError, match="--profile_every_n_steps 2 with --profile_num_steps 8"):
        RunOptions(profile_every_n_steps=2)
    assert RunOptions(profile_every_n_steps=9).profile_num_steps == 8


CLUSTER = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 2}


def test_defaults_are_nothing_to_speak_of():
    assert without_effect(RunOptions(), RunOptions()) == []


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
            {"moving_average_num_updates": False},
            {"moving_average_decay": 0.0},
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
            {"quantize_delay_step": 50, "max_steps": 50},
            {"max_steps": 51},
            "--quantize_delay_step has no effect unless it is below --max_steps",
        ),
    ],
)
def test_an_option_that_changes_nothing_is_named(idle, used, line):
    assert without_effect(RunOptions(**idle), RunOptions()) == [line]
    assert without_effect(RunOptions(**{**idle, **used}), RunOptions()) == []


def test_a_default_of_the_model_is_not_reported():
    defaults = RunOptions(warmup="linear", warmup_steps=20, placement="balanced")
    config = RunOptions(warmup="linear", warmup_steps=0, placement="balanced")
    assert without_effect(config, defaults) == []


def test_every_required_option_exists():
    names = {option.name for option in run_options()}
    assert {name for option in run_options() for name in option.requires} < names


def test_steps_beyond_the_end_and_best_checkpoints_without_evaluation_have_no_effect():
    defaults = RunOptions()
    late = RunOptions(profile_every_n_steps=21, max_steps=20)
    assert without_effect(late, defaults) == [
        "--profile_every_n_steps has no effect beyond --max_steps"
    ]
    assert without_effect(RunOptions(profile_every_n_steps=20, max_steps=20), defaults) == []
    # The last step is evaluated in any case.
    late = RunOptions(eval_every_n_steps=20, max_steps=20)
    assert without_effect(late, defaults) == [
        "--eval_every_n_steps has no effect unless it is below --max_steps"
    ]
    assert without_effect(RunOptions(eval_every_n_steps=19, max_steps=20), defaults) == []
    nothing = RunOptions(keep_best=1, evaluate=False)
    assert without_effect(nothing, defaults) == [
        "--keep_best has no effect without --evaluate or --eval_every_n_steps"
    ]
    assert (
        without_effect(RunOptions(keep_best=1, evaluate=False, eval_every_n_steps=5), defaults)
        == []
    )


@pytest.mark.parametrize(
    ("metric", "mode", "highest"),
    [
        ("loss", None, False),
        ("mean_iou", None, True),
        ("mean_iou", "min", False),
        ("wer", "min", False),
        ("wer", "max", True),
    ],
)
def test_the_best_metric_has_the_direction_of_its_name_or_of_the_mode(metric, mode, highest):
    config = RunOptions(keep_best=1, best_metric=metric, best_mode=mode)
    assert config.best_is_highest is highest


def test_a_best_metric_of_unknown_direction_needs_a_mode():
    with pytest.raises(ConfigError, match="'wer' .*, or give --best_mode max or --best_mode min"):
        RunOptions(keep_best=1, best_metric="wer")
    assert RunOptions(best_metric="wer").keep_best == 0
