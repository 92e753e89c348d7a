"""Significance of a difference between means of few values, such as of some seeds.

The test is Student's t with a common variance, which all groups with several values estimate
together: one seed of a setting can be compared with three of another. It assumes that the values
are about normally distributed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

# A difference that equal settings have less often counts as proved.
LEVEL = 0.05


class Noise(NamedTuple):
    """Standard deviation of a value that is repeated, and its degrees of freedom."""

    deviation: float
    freedom: int


def pooled_noise(groups: Sequence[Sequence[float]]) -> Noise | None:
    """Returns the common noise of groups of repeated values; None without any repetition."""
    freedom = sum(len(group) - 1 for group in groups if group)
    if freedom < 1:
        return None
    squares = 0.0
    for group in filter(None, groups):
        mean = math.fsum(group) / len(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
    return Noise(math.sqrt(squares / freedom), freedom)


def difference_p(difference: float, noise: Noise, counts: tuple[int, int]) -> float:
    """Returns the probability that equal settings differ as much, in either direction.

    Args:
      difference: of the means of two groups.
      noise: of a single value.
      counts: values in each of the two groups.
    """
    error = noise.deviation * math.sqrt(1 / counts[0] + 1 / counts[1])
    # Repeated values that are all equal say nothing about noise.
    return t_p_value(abs(difference) / error, noise.freedom) if error and difference else 1.0


def t_p_value(t: float, freedom: int) -> float:
    """Returns the two-sided p of Student's t.

    By the finite series for whole degrees of freedom: Abramowitz and Stegun, Handbook of
    Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    is_odd = freedom % 2
    term, total = (math.cos(angle) if is_odd else 1.0), 0.0
    for number in range(1, freedom // 2 + 1):
        total += term
        term *= square * (2 * number - 1 + is_odd) / (2 * number + is_odd)
    inside = 2 / math.pi * (angle + sine * total) if is_odd else sine * total
    return min(max(1 - inside, 0.0), 1.0)  # Rounding errors are above the smallest p.
