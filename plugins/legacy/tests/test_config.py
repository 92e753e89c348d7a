import types

import pytest

from tf_frame.errors import ConfigError
from tf_frame_legacy.config import TRAIN_CONFIG, Config, chosen, message


class Proto:
    """As a protocol buffer: every field has a value."""

    adam_optimizer = momentum_optimizer = 1

    def WhichOneof(self, kind):
        return f"adam_{kind}"


class ItemsAsAttributes(dict):
    __getattr__ = dict.__getitem__


@pytest.mark.parametrize("make", [dict, ItemsAsAttributes, types.SimpleNamespace])
def test_fields_are_attributes_and_items(make):
    config = Config(make(batch_size=8, freeze_variables=None, lr=0.1), TRAIN_CONFIG)
    assert (config.batch_size, config["batch_size"], config.lr) == (8, 8, 0.1)
    assert (config.freeze_variables, config.num_steps) == ((), 0)
    assert not hasattr(config, "decay_steps")
    with pytest.raises(AttributeError, match="has no decay_steps"):
        config["decay_steps"]


def test_assignments_stay_in_the_view():
    source = {"batch_size": 8}
    config = Config(source)
    config.batch_size //= 2
    config["input_path"] = "train.record"
    assert (config["batch_size"], config.input_path) == (4, "train.record")
    assert source == {"batch_size": 8}
    assert config.get("batch_size") == 8  # The methods are those of the source.


def test_defaults_are_those_of_the_api():
    config = Config({}, TRAIN_CONFIG)
    assert (config.batch_size, config.keep_checkpoint_every_n_hours) == (32, 10000)
    assert (config.batch_queue_capacity, config.num_batch_queue_threads) == (150, 8)
    assert (config.prefetch_queue_capacity, config.replicas_to_aggregate) == (5, 1)
    assert config.add_regularization_loss is True


def test_the_chosen_field_is_found_in_any_configuration():
    dictionary = {"adam_optimizer": {}, "momentum_optimizer": None}
    for source in (dictionary, types.SimpleNamespace(adam_optimizer={}), Proto()):
        assert chosen(source, "optimizer") == "adam_optimizer"
    assert chosen({"use_moving_average": True}, "optimizer") is None


def test_two_chosen_fields_and_an_unknown_field_are_refused():
    both = {"adam_optimizer": {}, "momentum_optimizer": {"momentum": 0.9}}
    with pytest.raises(ConfigError, match="adam_optimizer and momentum_optimizer; leave one"):
        chosen(both, "optimizer")
    with pytest.raises(ConfigError, match="momentum_optimizer has no field momentum; its fields"):
        message(both, "momentum_optimizer", {"learning_rate": {}})
