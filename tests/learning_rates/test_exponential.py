import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.exponential import Exponential


def test_the_defaults_are_a_factor_of_094_every_two_epochs(make, rates):
    found = rates(make(Exponential), [0, 19, 20, 39, 40])
    assert found == pytest.approx([0.1, 0.1, 0.094, 0.094, 0.08836])


def test_decay_steps_win_over_epochs(make, rates):
    schedule = make(Exponential, decay_steps=5, decay_factor=0.5)
    assert rates(schedule, [4, 5, 10]) == pytest.approx([0.1, 0.05, 0.025])


def test_decay_epochs_set_the_steps_of_a_decay(make, rates):
    schedule = make(Exponential, decay_epochs=0.55, decay_factor=0.5)
    assert rates(schedule, [4, 5]) == pytest.approx([0.1, 0.05])


def test_without_a_staircase_it_decays_in_every_step(make, rates):
    schedule = make(Exponential, decay_steps=2, decay_factor=0.25, staircase=False)
    assert rates(schedule, [1, 2, 3]) == pytest.approx([0.05, 0.025, 0.0125])


def test_it_does_not_fall_below_min_learning_rate(make, rates):
    schedule = make(Exponential, decay_steps=1, decay_factor=0.5, min_learning_rate=0.03)
    assert rates(schedule, [1, 2, 50]) == pytest.approx([0.05, 0.03, 0.03])


def test_epochs_of_unknown_length_are_an_error(make):
    with pytest.raises(ConfigError, match="decay_epochs 2.0: the input does not give"):
        make(Exponential, context={"steps_per_epoch": None})


def test_neither_steps_nor_epochs_is_an_error(make):
    with pytest.raises(ConfigError, match="decay_steps and --schedule.decay_epochs are both 0"):
        make(Exponential, decay_epochs=0)


@pytest.mark.parametrize(
    "options",
    [{"decay_factor": -1}, {"decay_steps": -1}, {"decay_epochs": -1}, {"min_learning_rate": -1}],
)
def test_values_out_of_range_are_refused(make, options):
    with pytest.raises(ConfigError, match="out of range; allowed: 0 or more"):
        make(Exponential, **options)
