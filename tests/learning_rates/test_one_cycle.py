import math

import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.one_cycle import OneCycle


def test_it_rises_falls_back_as_far_and_ends_in_annihilation(make, rates):
    found = rates(make(OneCycle), [0, 22.5, 45, 67.5, 90, 95, 100, 200])
    expected = [0.01, 0.055, 0.1, 0.055, 0.01, (0.01 + 1e-4) / 2, 1e-4, 1e-4]
    assert found == pytest.approx(expected, rel=1e-5)


def test_the_phases_and_factors_can_be_chosen(make, rates):
    schedule = make(OneCycle, rise=0.2, fall=0.4, initial_factor=0.5, final_factor=0.1)
    found = rates(schedule, [0, 10, 20, 40, 60, 80, 100])
    assert found == pytest.approx([0.05, 0.075, 0.1, 0.075, 0.05, 0.03, 0.01])


def test_decay_steps_and_decay_epochs_shorten_the_cycle(make, rates):
    for options in ({"decay_steps": 20, "decay_epochs": 9}, {"decay_epochs": 2}):
        found = rates(make(OneCycle, **options), [9, 18, 20])
        assert found == pytest.approx([0.1, 0.01, 1e-4], rel=1e-5)


def test_the_shape_can_be_cosine(make, rates):
    schedule = make(OneCycle, shape="cosine", rise=0.4, fall=0.6, initial_factor=0)
    found = rates(schedule, [0, 10, 20, 40, 70, 100])
    expected = [0, 0.05 * (1 - math.sqrt(0.5)), 0.05, 0.1, 0.05, 0]
    assert found == pytest.approx(expected, abs=1e-8)


def test_without_a_rise_it_begins_at_the_peak_and_without_a_fall_it_drops(make, rates):
    assert rates(make(OneCycle, rise=0, fall=0.5), [0, 25])[:2] == pytest.approx([0.1, 0.055])
    assert rates(make(OneCycle, rise=0.5, fall=0), [25, 50]) == pytest.approx([0.055, 0.01])


def test_without_annihilation_it_stays_where_it_fell_to(make, rates):
    assert rates(make(OneCycle, rise=0.3, fall=0.7), [100, 500]) == pytest.approx([0.01, 0.01])


def test_shares_of_more_than_the_whole_are_refused(make):
    with pytest.raises(ConfigError, match=r"rise 0.6 and --schedule.fall 0.45 are shares"):
        make(OneCycle, rise=0.6)


def test_an_unknown_shape_is_refused_with_those_that_exist(make):
    with pytest.raises(ConfigError, match="did you mean 'cosine'.*allowed: linear, cosine"):
        make(OneCycle, shape="cosin")


@pytest.mark.parametrize(
    "options",
    [
        *({"rise": 1.1}, {"fall": -0.1}, {"initial_factor": 2}, {"final_factor": -1}),
        *({"decay_steps": -1}, {"decay_epochs": -1}),
    ],
)
def test_values_out_of_range_are_refused(make, options):
    with pytest.raises(ConfigError, match="out of range"):
        make(OneCycle, **options)
