"""The schedules `multi_steps` and `manual_steps`; numbers of their sources, by hand."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.multi_steps import ManualSteps, MultiSteps


@pytest.mark.parametrize(
    ("cls", "options", "steps", "expected"),
    [
        (
            MultiSteps,
            {"boundaries": "10,20", "learning_rates": "0.5,0.05,0.005"},
            [0, 10, 11, 20, 21, 1000],
            [0.5, 0.5, 0.05, 0.05, 0.005, 0.005],
        ),
        (
            ManualSteps,
            {"boundaries": "10,20", "learning_rates": "0.05,0.005"},
            [0, 9, 10, 19, 20, 1000],
            [0.1, 0.1, 0.05, 0.05, 0.005, 0.005],
        ),
        (
            ManualSteps,
            {"boundaries": (4, 6), "learning_rates": (0.5, 0.05), "warmup": True},
            [0, 1, 2, 3, 4, 5, 6],
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.05],
        ),
    ],
)
def test_each_rate_holds_between_its_boundaries(make, rates, cls, options, steps, expected):
    assert rates(make(cls, **options), steps) == pytest.approx(expected)


UNSET = "Must set `boundaries` and `learning_rates` for multi_"


@pytest.mark.parametrize(
    ("cls", "boundaries", "learning_rates", "words"),
    [
        *((MultiSteps, *values, UNSET) for values in [((), ()), ((1,), ()), ((), (0.1,))]),
        (MultiSteps, (10, 20), (0.5, 0.05), r"has 2 values \(0.5,0.05\), 3 are needed: one up to"),
        (MultiSteps, (20, 10), (0.5, 0.05, 0.1), "boundaries 20,10: each must .*; 10 is not"),
        (MultiSteps, (0, 2), (0.5, 0.05, 0.1), "greater than the one before .*; 0 is not"),
        (MultiSteps, (-3, 2), (0.5, 0.05, 0.1), "each must be greater .*; -3 is not"),
        (MultiSteps, (5, 9, 9), (0.5, 0.05, 0.1, 0.1), "each must be greater .*; 9 is not"),
        (MultiSteps, (20,), (0.5, -0.1), "-0.1 is out of range"),
        (ManualSteps, (), (), "Empty learning rate schedule."),
        (ManualSteps, (10, 20), (0.5, 0.05, 0.1), "has 3 values .*, 2 are needed: one per bound"),
        (ManualSteps, (0,), (0.5,), "greater than 0; 0 is not"),
        (ManualSteps, (20,), (-0.1,), "-0.1 is out of range"),
    ],
)
def test_boundaries_and_rates_that_do_not_fit(make, cls, boundaries, learning_rates, words):
    with pytest.raises(ConfigError, match=words):
        make(cls, boundaries=boundaries, learning_rates=learning_rates)
