"""Significance of a difference between two sets of measured times.

The test is the rank test of Mann and Whitney ("On a test of whether one of two random variables is
stochastically larger than the other", Annals of Mathematical Statistics 18, 1947). It compares
ranks, because times of steps are far from normal: one step that the machine interrupted, or that
wrote a checkpoint, is many times as long as the others and would decide a test of means. The
distribution of rank sums can be counted exactly for few steps; a permutation test of medians would
need random draws instead.

Of many compared entries, some differ by chance. `adjusted_p_values` bounds the share of false
differences among the significant ones by the procedure of Benjamini and Hochberg ("Controlling the
false discovery rate", Journal of the Royal Statistical Society B 57, 1995).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

# Up to this product of both numbers, as for 20 and 20, the distribution is exact: counts of
# subsets then fit an int64, and the normal distribution deviates little beyond.
_MOST_EXACT = 400


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Returns the probability that two equal sources differ as much, in either direction.

    Equal values share the mean of their ranks. Without measurements of both the probability is 1.
    """
    if not first or not second:
        return 1.0
    values = np.concatenate([np.asarray(first, float), np.asarray(second, float)])
    doubled, ties = _doubled_ranks(values)
    total = int(doubled[: len(first)].sum())
    if len(first) * len(second) <= _MOST_EXACT:
        return _exact(tuple(sorted(doubled.tolist())), len(first), total)
    return _approximate(ties, len(first), len(second), total)


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjusts the values of all entries of a table by the procedure of Benjamini and Hochberg."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    adjusted, least = [1.0] * len(p_values), 1.0
    for position, index in enumerate(order):
        least = min(least, p_values[index] * len(order) / (len(order) - position))
        adjusted[index] = least
    return adjusted


def _doubled_ranks(values: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Twice the rank of each value, an integer even for ties; and the sizes of the ties."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (2 * last - counts + 1)[place], counts.tolist()


@functools.lru_cache(maxsize=256)
def _exact(doubled: tuple[int, ...], size: int, total: int) -> float:
    """Share of all subsets of `size` ranks with a sum as far from the mean as `total`."""
    counts = _subset_sums(doubled, size)
    mean = size * sum(doubled) / len(doubled)
    extreme = np.abs(np.arange(len(counts)) - mean) >= abs(total - mean) - 1e-9
    return float(counts[extreme].sum() / counts.sum())


@functools.lru_cache(maxsize=64)
def _subset_sums(doubled: tuple[int, ...], size: int) -> np.ndarray:
    """Number of subsets of `size` ranks with each sum."""
    counts = np.zeros((size + 1, sum(sorted(doubled)[-size:]) + 1), np.int64)
    counts[0, 0] = 1
    for rank in doubled:
        # The right side is a copy, so that no subset has a rank twice.
        counts[1:, rank:] += counts[:-1, : counts.shape[1] - rank].copy()
    sums: np.ndarray = counts[size]
    return sums


def _approximate(ties: Sequence[int], first: int, second: int, total: int) -> float:
    """By the normal distribution, with a correction for ties and one for continuity."""
    number = first + second
    tied = sum(count**3 - count for count in ties)
    variance = first * second / 12 * (number + 1 - tied / (number * (number - 1)))
    distance = abs(total / 2 - first * (number + 1) / 2)
    if not variance:
        return 1.0
    return math.erfc(max(distance - 0.5, 0) / math.sqrt(2 * variance))
