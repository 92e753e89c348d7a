import pytest

from tf_frame.config.resolve import resolve
from tf_frame.config.run_options import RunOptions, run_options
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


@pytest.mark.parametrize("options", [{"num_ps_tasks": 1}, {"worker_replicas": 2}, {"task": 1}])
def test_a_cluster_needs_a_master(options):
    with pytest.raises(ConfigError, match="--master grpc://HOST:PORT"):
        RunOptions(**options)
    whole = {"num_ps_tasks": 1, "worker_replicas": 2, **options}
    assert RunOptions(**whole, master="grpc://localhost:1").master == "grpc://localhost:1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"master": "localhost:1"}, "--master localhost:1: expected grpc://HOST:PORT"),
        ({"master": "grpc://localhost"}, "--master grpc://localhost: expected grpc://HOST:PORT"),
        ({"task": 1}, "--task 1: tasks count from 0 and --worker_replicas is 1"),
        ({"sync_replicas": True, "startup_delay_steps": 5}, "must be zero .*; it is 5"),
        (
            {"sync_replicas": True, "num_clones": 2, **TWO_WORKERS},
            "num_clones must be 1. Found num_clones: 2",
        ),
        ({"worker_replicas": 2}, "--worker_replicas 2 share .* their number as --num_ps_tasks"),
    ],
)
def test_a_cluster_that_does_not_fit_together_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RunOptions(**{"master": "grpc://localhost:1", **options})


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
