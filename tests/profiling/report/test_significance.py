"""The test of Mann and Whitney, against counting all permutations and published values."""

import itertools
import random

import pytest

from tf_frame.profiling.report import significance
from tf_frame.profiling.report.significance import adjusted_p_values, p_value


def counted(first, second):
    """The p-value by going through all ways to split the values."""
    values = [*first, *second]

    def rank(value):
        return sum(v < value for v in values) + (sum(v == value for v in values) + 1) / 2

    ranks = [rank(value) for value in values]
    mean = len(first) * sum(ranks) / len(ranks)
    far = abs(sum(ranks[: len(first)]) - mean)
    sums = [sum(subset) for subset in itertools.combinations(ranks, len(first))]
    return sum(abs(total - mean) >= far - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2, 3], [4, 5, 6]),
        ([1.5, 8, 3, 9], [4, 5, 6]),
        ([0, 0, 0, 7], [0, 0, 5, 6]),
        ([1, 1, 1], [1, 1]),
        ([3], [1, 2, 4, 9, 11]),
    ],
)
def test_few_values_give_the_exact_probability(first, second):
    assert p_value(first, second) == pytest.approx(counted(first, second))
    assert p_value(first, second) == pytest.approx(p_value(second, first))


def test_probabilities_of_extreme_sets_and_adjusted_values():
    # 2 of the 252 ways to choose 5 of 10.
    assert p_value(range(5), range(10, 15)) == pytest.approx(2 / 252)
    first = [1.0, 1.1, 1.2, 1.3, 1.4]
    second = [1.05, 1.15, 1.25, 1.35]
    assert p_value(first, [*second, 2.0]) == p_value(first, [*second, 1e9])
    assert p_value([], [1, 2]) == 1
    assert p_value([5] * 30, [5] * 30) == 1
    # Sorted: 0.01 * 4, 0.02 * 4 / 2, 0.04 * 4 / 3, 0.5; none is above a later one.
    assert adjusted_p_values([0.02, 0.5, 0.01, 0.04]) == pytest.approx([0.04, 0.5, 0.04, 0.16 / 3])
    assert adjusted_p_values([]) == []


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.3])
def test_the_approximation_continues_the_exact_values(monkeypatch, shift):
    draw = random.Random(0)
    first = [round(draw.random(), 2) for _ in range(20)]
    second = [round(draw.random() + shift, 2) for _ in range(20)]
    exact = p_value(first, second)
    monkeypatch.setattr(significance, "_MOST_EXACT", 0)
    assert p_value(first, second) == pytest.approx(exact, abs=0.01)
