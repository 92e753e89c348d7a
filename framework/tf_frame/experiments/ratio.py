"""`paired_ratio`: how much faster a variant is, with a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_RESAMPLES = 2000


class Ratio(NamedTuple):
    """A ratio of speeds and the ends of its confidence interval; above 1 the variant is faster."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.2f}x ({self.low:.2f} to {self.high:.2f})"

    def scaled(self, factor: float) -> Ratio:
        """Returns the ratio times a factor, such as of the examples in a step."""
        return Ratio(*(factor * value for value in self))


def paired_ratio(pairs: Sequence[tuple[float, float]], *, confidence: float = 0.95) -> Ratio:
    """Returns the ratio of the total times of the baseline and of the variant.

    The interval is that of the percentile bootstrap (Efron, 1979): the pairs are drawn again with
    replacement, and the ratio of the drawn totals is taken each time. Totals, not a median of
    ratios, since what happens in few blocks, such as a checkpoint, counts as well.

    Args:
      pairs: seconds of the baseline and of the variant for equally many steps, one after the other.
      confidence: share of such intervals that contain the true ratio.
    """
    times = np.array(pairs)
    # The same pairs give the same interval.
    draws = np.random.default_rng(0).integers(len(times), size=(_RESAMPLES, len(times)))
    totals = times[draws].sum(axis=1)
    low, high = np.quantile(
        totals[:, 0] / totals[:, 1], [(1 - confidence) / 2, (1 + confidence) / 2]
    )
    baseline, variant = times.sum(axis=0)
    return Ratio(float(baseline / variant), float(low), float(high))
