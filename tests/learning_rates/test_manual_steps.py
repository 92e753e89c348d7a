"""The schedule `manual_steps`; numbers of object_detection's manual_stepping, by hand."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.manual_steps import ManualSteps


def test_each_rate_holds_from_its_boundary_on(make, rates):
    schedule = make(ManualSteps, boundaries="10,20", learning_rates="0.05,0.005")
    found = rates(schedule, [0, 9, 10, 19, 20, 1000])
    assert found == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.005, 0.005])


def test_warm_up_goes_in_a_straight_line_to_the_first_new_rate(make, rates):
    schedule = make(ManualSteps, boundaries=(4, 6), learning_rates=(0.5, 0.05), warmup=True)
    found = rates(schedule, [0, 1, 2, 3, 4, 5, 6])
    assert found == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.05])


def test_an_empty_schedule_is_an_error(make):
    with pytest.raises(ConfigError, match="Empty learning rate schedule."):
        make(ManualSteps)


def test_there_must_be_one_rate_per_boundary(make):
    with pytest.raises(ConfigError, match="has 3 values .*, 2 are needed: one per boundary"):
        make(ManualSteps, boundaries=(10, 20), learning_rates=(0.5, 0.05, 0.005))


def test_boundaries_must_increase(make):
    with pytest.raises(ConfigError, match="greater than 0; 0 is not"):
        make(ManualSteps, boundaries=(0,), learning_rates=(0.5,))


def test_negative_rates_are_refused(make):
    with pytest.raises(ConfigError, match="-0.1 is out of range"):
        make(ManualSteps, boundaries=(20,), learning_rates=(-0.1,))
