"""The schedule `cosine`; numbers of hold and warm-up follow object_detection, by hand."""

import math

import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.cosine import Cosine


def test_half_a_wave_over_all_of_training(make, rates):
    found = rates(make(Cosine), [0, 25, 50, 100, 500])
    assert found == pytest.approx([0.1, 0.05 * (1 + math.sqrt(0.5)), 0.05, 0, 0], abs=1e-8)


def test_end_learning_rate_lifts_it(make, rates):
    schedule = make(Cosine, end_learning_rate=0.02)
    assert rates(schedule, [0, 50, 100, 101]) == pytest.approx([0.1, 0.06, 0.02, 0.02])


def test_decay_steps_and_decay_epochs_shorten_it(make, rates):
    for options in ({"decay_steps": 20, "decay_epochs": 9}, {"decay_epochs": 2}):
        assert rates(make(Cosine, **options), [10, 20, 30]) == pytest.approx([0.05, 0, 0], abs=1e-8)


def test_warm_up_hold_and_decay_share_decay_steps(make, rates):
    schedule = make(
        Cosine, warmup_steps=20, warmup_learning_rate=0.02, hold_steps=30, decay_steps=90
    )
    found = rates(schedule, [0, 5, 19, 20, 50, 60, 70, 90])
    quarter = 0.05 * (1 + math.sqrt(0.5))
    expected = [0.02, 0.04, 0.096, 0.1, 0.1, quarter, 0.05, 0]
    assert found == pytest.approx(expected, abs=1e-8)


def test_a_decay_without_steps_is_an_error(make):
    with pytest.raises(ConfigError, match=r"warmup_steps 60 and .*hold_steps 40 leave nothing of"):
        make(Cosine, warmup_steps=60, hold_steps=40)


def test_a_warm_up_that_falls_is_an_error(make):
    with pytest.raises(ConfigError, match=r"warmup_learning_rate 0.2 is above --learning_rate 0.1"):
        make(Cosine, warmup_steps=6, warmup_learning_rate=0.2)


def test_warmup_learning_rate_without_a_warm_up_does_no_harm(make, rates):
    assert rates(make(Cosine, warmup_learning_rate=0.2), [0]) == pytest.approx([0.1])


@pytest.mark.parametrize(
    "name",
    [
        *("decay_steps", "decay_epochs", "end_learning_rate"),
        *("hold_steps", "warmup_steps", "warmup_learning_rate"),
    ],
)
def test_values_out_of_range_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"schedule.{name}: -1.* is out of range"):
        make(Cosine, **{name: -1})
