"""The space: texts, values, grids."""

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from tf_frame.config.option import Option
from tf_frame.errors import ConfigError
from tf_frame_sweep.space import as_text, grid, low_ends, parse_space, within


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=log 0.01..1", FloatDistribution(0.01, 1.0, log=True)),
        ("a=0..0.9", FloatDistribution(0.0, 0.9)),
        ("a=-1.5..2e-1", FloatDistribution(-1.5, 0.2)),
        ("a=0..1 step 0.25", FloatDistribution(0.0, 1.0, step=0.25)),
        ("a=64..256 step 64", IntDistribution(64, 256, step=64)),
        ("a=log 1..64", IntDistribution(1, 64, log=True)),
        ("a = 3 .. 5", IntDistribution(3, 5)),
        ("--a=momentum, adam", CategoricalDistribution(["momentum", "adam"])),
        ("a=6,12|12,24", CategoricalDistribution(["6,12", "12,24"])),
    ],
)
def test_texts_are_ranges_and_choices(text, values):
    assert parse_space([text]) == {"a": values}


def test_whole_numbers_are_real_ones_for_an_option_of_real_numbers():
    types = {"rate": float, "decay": float | None, "steps": int}
    space = parse_space(["rate=0..1", "decay=1..2", "steps=1..9"], types)
    assert [type(values) for values in space.values()] == [
        *(FloatDistribution, FloatDistribution, IntDistribution)
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("learning_rate", "expected OPTION=VALUES"),
        ("=1..2", "expected OPTION=VALUES"),
        ("a=1", "several different choices"),
        ("a=x,x", "several different choices"),
        ("a=2..1", "the first number must be below the second"),
        ("a=1..1", "the first number must be below the second"),
        ("a=log 0..1", "a logarithmic range begins above 0"),
        ("a=log 1..8 step 2", "either log or a step"),
        ("a=1..8 step 0", "the step must be positive"),
        ("a=log x..y", "give a range"),
    ],
)
def test_wrong_texts_are_refused(text, reason):
    with pytest.raises(ConfigError, match=reason):
        parse_space([text])


def test_an_option_that_is_missing_or_given_twice_is_refused():
    with pytest.raises(ConfigError, match="given twice"):
        parse_space(["a=1..2", "a=3..4"])
    with pytest.raises(ConfigError, match="--space is missing"):
        parse_space([])


def test_a_grid_has_all_combinations():
    space = parse_space(["a=0..1 step 0.5", "b=x,y", "c=1..2"])
    values = grid(space)
    assert len(values) == 12 and {"a": 0.5, "b": "y", "c": 2} in values
    with pytest.raises(ConfigError, match="--sampler grid: give a a step"):
        grid(parse_space(["a=0.1..1"]))


def test_values_are_written_exactly_and_have_an_example_each():
    assert float(as_text(0.1 + 0.2)) == 0.1 + 0.2
    assert low_ends(parse_space(["a=0.5..1", "b=x,y", "c=1..2"])) == {
        "a": "0.5",
        "b": "x",
        "c": "1",
    }


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"a": 0.5, "b": "x", "c": 3}, {"a": 0.5, "b": "x", "c": 3}),
        ({"a": 2.0, "b": "x", "c": 3}, None),
        ({"a": 0.5, "b": "z", "c": 3}, None),
        ({"a": 0.5, "b": "x", "c": 2}, None),
        ({"a": None, "b": "x", "c": 3}, None),
        ({"a": 0.5, "c": 3}, None),
    ],
)
def test_the_options_of_the_run_are_within_the_space_or_not(values, found):
    space = parse_space(["a=0.1..1", "b=x,y", "c=1..5 step 2"])
    assert within(space, values, lambda name, text: text) == found


def test_the_choice_that_means_the_value_of_the_run_is_found_however_it_is_written():
    options = {
        name: Option(name, kind, None)
        for name, kind in {"a": float, "b": bool, "c": tuple[int, ...]}.items()
    }
    space = parse_space(["a=0.1,1e-3", "b=true,false", "c=6,12|12,24"])
    values = {"a": 0.001, "b": False, "c": (12, 24)}
    found = within(space, values, lambda name, text: options[name].parse(text))
    assert found == {"a": "1e-3", "b": "false", "c": "12,24"}
