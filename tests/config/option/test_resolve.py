import dataclasses

import pytest

from tf_frame.config.option import check_names, option, resolve
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Params:
    depth: int = option(1, "depth", min=1)
    width: int = option(1, "width")


def test_each_stronger_source_wins_over_the_weaker_ones():
    model_defaults = {"max_steps": 2, "num_clones": 2, "warmup_learning_rate": 0.2}
    file, flags = {"num_clones": 4, "warmup_learning_rate": 0.4}, {"warmup_learning_rate": 0.8}
    config = resolve(RunOptions, [model_defaults, file, flags])
    assert config == RunOptions(max_steps=2, num_clones=4, warmup_learning_rate=0.8)


def test_a_prefix_picks_the_options_of_one_plugin():
    source = {"model.depth": "3", "input.depth": 9, "depth": 7, "max_steps": 5}
    assert resolve(Params, [source], prefix="model") == Params(depth=3)
    assert resolve(RunOptions, [{"model.depth": "x", "max_steps": 5}]).max_steps == 5
    assert resolve(RunOptions, []) == RunOptions()


def test_values_of_every_source_are_checked():
    with pytest.raises(ConfigError, match=r"^--model.depth: 0 is out of range"):
        resolve(Params, [{"model.depth": 0}, {"model.depth": 2}], prefix="model")


@pytest.mark.parametrize(
    ("sources", "secs", "steps"),
    [
        ([{"save_checkpoint_steps": 5}], None, 5),
        ([{"save_checkpoint_steps": 5}, {"save_checkpoint_secs": 60}], 60, None),
        ([{"save_checkpoint_secs": 60}, {"save_checkpoint_steps": 5}], None, 5),
        ([{"save_checkpoint_secs": 60}, {"max_steps": 5}], 60, None),
        ([{"save_checkpoint_secs": None, "save_checkpoint_steps": 5}], None, 5),
        (
            [
                {"save_checkpoint_secs": None, "save_checkpoint_steps": 5},
                {"save_checkpoint_secs": 60},
            ],
            60,
            None,
        ),
    ],
)
def test_the_cadence_of_a_stronger_source_unsets_the_other(sources, secs, steps):
    config = resolve(RunOptions, sources)
    assert (config.save_checkpoint_secs, config.save_checkpoint_steps) == (secs, steps)


@pytest.mark.parametrize(
    "source",
    [{"save_checkpoint_secs": 60, "save_checkpoint_steps": 5}, {"save_checkpoint_secs": "none"}],
)
def test_both_cadences_or_none_are_refused(source):
    with pytest.raises(ConfigError, match="exactly one"):
        resolve(RunOptions, [source])


def test_unknown_names_are_answered_with_their_source():
    check_names({"max_steps": "not a number"}, run_options(), "a file")
    for name, hint in (
        ("max_step", "did you mean max_steps?"),
        ("zzzz", "tf-frame run --help_all lists them"),
    ):
        with pytest.raises(ConfigError) as error:
            check_names({"max_steps": 1, name: 1}, run_options(), "a file")
        assert str(error.value) == f"a file: unknown option {name}; {hint}"
