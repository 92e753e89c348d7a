import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.poly import Poly


def test_it_falls_with_the_power_to_zero_at_the_end_of_training(make, rates):
    found = rates(make(Poly), [0, 50, 100, 150])
    assert found == pytest.approx([0.1, 0.1 * 0.5**0.9, 0, 0], abs=1e-8)


def test_power_and_end_learning_rate(make, rates):
    schedule = make(Poly, power=2, end_learning_rate=0.02)
    assert rates(schedule, [0, 50, 100, 200]) == pytest.approx([0.1, 0.04, 0.02, 0.02])


def test_decay_steps_and_decay_epochs_shorten_it(make, rates):
    for options in ({"decay_steps": 20, "decay_epochs": 9}, {"decay_epochs": 2}):
        assert rates(make(Poly, power=1, **options), [10, 20, 30]) == pytest.approx([0.05, 0, 0])


def test_a_cycle_starts_again_over_twice_the_steps(make, rates):
    schedule = make(Poly, power=1, decay_steps=10, cycle=True)
    assert rates(schedule, [5, 10, 15, 20, 25]) == pytest.approx(
        [0.05, 0.0, 0.025, 0.0, 0.1 * (1 - 25 / 30)], abs=1e-8
    )


@pytest.mark.parametrize(
    "options", [{"power": -1}, {"decay_steps": -1}, {"decay_epochs": -1}, {"end_learning_rate": -1}]
)
def test_values_out_of_range_are_refused(make, options):
    with pytest.raises(ConfigError, match="out of range; allowed: 0 or more"):
        make(Poly, **options)
