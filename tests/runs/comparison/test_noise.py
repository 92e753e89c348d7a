"""Significance of differences of few values."""

import math

import pytest

from tf_frame.runs.comparison.noise import (
    Noise,
    difference_p,
    pooled_noise,
    t_p_value,
)


# Critical values of the tables of Student's t, two-sided.
@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    [
        *((12.7062, 1, 0.05), (4.3027, 2, 0.05), (3.1824, 3, 0.05), (2.7764, 4, 0.05)),
        *((2.2281, 10, 0.05), (2.0423, 30, 0.05), (63.6567, 1, 0.01), (9.9248, 2, 0.01)),
        *((3.1693, 10, 0.01), (0.0, 3, 1.0), (0.0, 4, 1.0), (0.7407, 4, 0.5)),
    ],
)
def test_p_values_are_those_of_the_tables(t, freedom, p):
    assert t_p_value(t, freedom) == pytest.approx(p, abs=2e-5)


def test_noise_is_that_of_all_groups_together():
    noise = pooled_noise([[1.0, 3.0], [10.0], [4.0, 5.0, 6.0], []])
    assert noise == (pytest.approx(math.sqrt((2 + 2) / 3)), 3)
    assert pooled_noise([[1.0], [2.0], []]) is None


def test_a_difference_is_measured_by_the_noise_and_the_number_of_values():
    noise = Noise(1.0, 4)
    # Two means of three values: the standard error is the square root of 2/3.
    assert difference_p(2.7764 * math.sqrt(2 / 3), noise, (3, 3)) == pytest.approx(0.05, abs=1e-4)
    assert difference_p(1.0, noise, (1, 1)) > difference_p(1.0, noise, (5, 5))
    assert difference_p(0.0, Noise(0.1, 2), (2, 2)) == 1.0
    # Equal values say nothing about noise.
    assert difference_p(0.1, Noise(0.0, 2), (2, 2)) == 1.0


def test_a_large_t_has_a_small_p_and_no_negative_one():
    assert 0 <= t_p_value(50, 20) < 1e-9
    assert 0 <= t_p_value(40, 30) < 1e-9
