import pytest

from tf_frame.config.run_config import RunConfig, run_options
from tf_frame.errors import ConfigError


def test_the_defaults_are_valid_and_within_their_bounds():
    config = RunConfig()
    for option in run_options():
        assert option.parse(getattr(config, option.name)) == option.default


def test_the_batch_is_split_over_the_clones():
    assert RunConfig(train_batch_size=12, num_clones=3).clone_batch_size == 4


def test_a_batch_that_the_clones_cannot_share_is_refused():
    with pytest.raises(ConfigError, match=r"--train_batch_size 8 .*--num_clones 3; .* of 3"):
        RunConfig(train_batch_size=8, num_clones=3)


@pytest.mark.parametrize("options", [{"num_ps_tasks": 1}, {"worker_replicas": 2}, {"task": 1}])
def test_a_cluster_needs_a_master(options):
    with pytest.raises(ConfigError, match="--master grpc://HOST:PORT"):
        RunConfig(**options)
    assert RunConfig(**options, master="grpc://localhost:1").master == "grpc://localhost:1"


@pytest.mark.parametrize(("secs", "steps"), [(None, None), (60, 100)])
def test_checkpoints_have_exactly_one_cadence(secs, steps):
    with pytest.raises(ConfigError, match=f"exactly one of .*; they are {secs} and {steps}"):
        RunConfig(save_checkpoint_secs=secs, save_checkpoint_steps=steps)


def test_checkpoints_may_go_by_steps():
    config = RunConfig(save_checkpoint_secs=None, save_checkpoint_steps=5)
    assert config.save_checkpoint_steps == 5
