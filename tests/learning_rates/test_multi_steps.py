import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.multi_steps import MultiSteps, check_boundaries, check_rates


def test_each_rate_holds_up_to_and_with_its_boundary(make, rates):
    schedule = make(MultiSteps, boundaries="10,20", learning_rates="0.5,0.05,0.005")
    found = rates(schedule, [0, 10, 11, 20, 21, 1000])
    assert found == pytest.approx([0.5, 0.5, 0.05, 0.05, 0.005, 0.005])


@pytest.mark.parametrize("options", [{}, {"boundaries": (1,)}, {"learning_rates": (0.1,)}])
def test_boundaries_and_rates_must_be_set(make, options):
    with pytest.raises(ConfigError, match="Must set `boundaries` and `learning_rates` for multi_"):
        make(MultiSteps, **options)


def test_there_must_be_one_rate_more_than_boundaries(make):
    with pytest.raises(ConfigError, match="has 2 values .*, 3 are needed"):
        make(MultiSteps, boundaries=(10, 20), learning_rates=(0.5, 0.05))


def test_boundaries_must_increase(make):
    with pytest.raises(ConfigError, match="--schedule.boundaries 20,10: each must be greater"):
        make(MultiSteps, boundaries=(20, 10), learning_rates=(0.5, 0.05, 0.005))


def test_negative_rates_are_refused(make):
    with pytest.raises(ConfigError, match="-0.1 is out of range"):
        make(MultiSteps, boundaries=(20,), learning_rates=(0.5, -0.1))


def test_increasing_boundaries_pass():
    check_boundaries([1, 2, 30])
    check_boundaries([])


@pytest.mark.parametrize(("boundaries", "wrong"), [((0, 2), 0), ((-3, 2), -3), ((5, 9, 9), 9)])
def test_boundaries_that_do_not_increase_are_refused(boundaries, wrong):
    with pytest.raises(ConfigError, match=f"boundaries .*greater than the one before.*; {wrong} i"):
        check_boundaries(boundaries)


def test_the_number_of_rates_must_fit():
    check_rates([0.1, 0.2], 2, "one per boundary")
    with pytest.raises(ConfigError, match=r"has 2 values \(0.1,0.2\), 3 are needed: one per boun"):
        check_rates([0.1, 0.2], 3, "one per boundary")
