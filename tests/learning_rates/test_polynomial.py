import pytest

from tf_frame.learning_rates.polynomial import Polynomial


def test_the_defaults_are_a_straight_line_to_slims_end_learning_rate(make, rates):
    found = rates(make(Polynomial), [0, 50, 100])
    assert found == pytest.approx([0.1, (0.1 + 1e-4) / 2, 1e-4])


def test_two_epochs_as_in_slim(make, rates):
    assert rates(make(Polynomial, decay_epochs=2), [10, 20]) == pytest.approx([0.05005, 1e-4])


def test_all_options_of_poly_are_there(make, rates):
    schedule = make(Polynomial, power=2, end_learning_rate=0, decay_steps=10)
    assert rates(schedule, [5]) == pytest.approx([0.025])
    again = make(Polynomial, end_learning_rate=0, decay_steps=10, cycle=True)
    assert rates(again, [15]) == pytest.approx([0.1 * 5 / 20])
