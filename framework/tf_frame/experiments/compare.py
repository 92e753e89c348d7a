"""`compare`: measures how much faster a trial is than another, and whether both learn the same."""

from __future__ import annotations

import dataclasses
import enum
import math
import time
from collections.abc import Iterable

from tf_frame.experiments.ratio import Ratio, paired_ratio
from tf_frame.experiments.trial import Trial

# Single steps at the beginning, with a loss each; TensorFlow prepares the graph in the first.
FIRST_STEPS = 10
# Much longer than a process needs to go on, and shorter than most changes of load.
_TURN_SECS = 1.0
_LEAST_PAIRS = 6
# Equal processes were seen to differ by up to this, each for its whole life.
NOISE = 0.05
# An interval that is wider, as a part of the ratio, comes from a machine that is too noisy.
_TOO_WIDE = 0.15
# Losses that differ by less have other roundings only, which grow with the steps.
_ROUNDING = 1e-3
# Intervals are asked again and again, so that an early end needs a surer one.
_EARLY = 0.999


class Verdict(enum.Enum):
    """The result of a comparison."""

    FASTER = "faster"
    NO_GAIN = "no gain"
    SLOWER = "slower"
    UNCLEAR = "unclear"


@dataclasses.dataclass(frozen=True)
class Losses:
    """The losses of both trials at the same global steps.

    Attributes:
      steps: the last of these steps; 0: none was the same.
      difference: the largest relative difference.
    """

    steps: int
    difference: float

    @property
    def are_equal(self) -> bool:
        """True if both trials computed the same but for rounding."""
        return self.difference < _ROUNDING

    def __str__(self) -> str:
        if self.difference == 0:
            return f"losses equal up to step {self.steps}"
        size = "losses equal but for rounding" if self.are_equal else "losses differ"
        return f"{size}, by {self.difference:.0e} up to step {self.steps}"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The result of turns of two trials.

    Attributes:
      ratio: speed of the variant, in examples/s, over that of the baseline.
      pairs: number of pairs of turns.
      secs: time of all turns.
      losses: see `Losses`; None if the trials take batches of different sizes.
    """

    ratio: Ratio
    pairs: int
    secs: float
    losses: Losses | None

    @property
    def verdict(self) -> Verdict:
        """The meaning of the interval; a difference within `NOISE` is none."""
        if self.ratio.low > 1 + NOISE:
            return Verdict.FASTER
        if self.ratio.high < 1 - NOISE:
            return Verdict.SLOWER
        return Verdict.NO_GAIN if self.ratio.high < 1 + NOISE else Verdict.UNCLEAR

    @property
    def has_figure(self) -> bool:
        """False if the machine is too noisy for a figure: the interval is wide and says nothing."""
        is_wide = self.ratio.high - self.ratio.low > _TOO_WIDE * self.ratio.ratio
        return not (is_wide and self.verdict == Verdict.UNCLEAR)


def compare(baseline: Trial, variant: Trial, *, secs: float) -> Comparison:
    """Lets two trials take turns until the ratio of their speeds is sure, or the time is over.

    Args:
      baseline, variant: open trials; the baseline may have been compared before.
      secs: time of all turns, without the start of the trials.

    Raises:
      TrialError: a training ended.
    """
    new = [trial for trial in (baseline, variant) if not trial.losses]
    for trial in new:
        trial.wait_until_ready()
    began = time.monotonic()
    for trial in new:
        for _ in range(FIRST_STEPS):
            trial.train(1)
    steps = _steps_of_a_turn(baseline, variant, min(_TURN_SECS, secs / (4 * _LEAST_PAIRS)))
    scale = variant.examples_per_step / baseline.examples_per_step
    pairs: list[tuple[float, float]] = []
    while len(pairs) < _LEAST_PAIRS or not (
        _is_sure(pairs, scale) or time.monotonic() - began > secs
    ):
        pairs.append(_pair(baseline, variant, steps, swapped=len(pairs) % 2 == 1))
    return Comparison(
        ratio=paired_ratio(pairs).scaled(scale),
        pairs=len(pairs),
        secs=time.monotonic() - began,
        losses=compare_losses(baseline, variant) if scale == 1 else None,
    )


def _steps_of_a_turn(baseline: Trial, variant: Trial, secs: float) -> int:
    """Returns the steps that take the baseline about some seconds; both trials run them."""
    steps = 1
    while True:
        took = baseline.train(steps).secs
        variant.train(steps)
        if took >= secs / 2:
            return max(1, round(steps * secs / took))
        steps *= 2


def _pair(baseline: Trial, variant: Trial, steps: int, *, swapped: bool) -> tuple[float, float]:
    # Each of them is the second one as often as the first: load that grows meets both alike.
    if swapped:
        second = variant.train(steps).secs
        return baseline.train(steps).secs, second
    return baseline.train(steps).secs, variant.train(steps).secs


def _is_sure(pairs: list[tuple[float, float]], scale: float) -> bool:
    ratio = paired_ratio(pairs, confidence=_EARLY).scaled(scale)
    return ratio.low > 1 + NOISE or ratio.high < 1 + NOISE


def compare_losses(baseline: Trial, variant: Trial) -> Losses:
    """Compares the losses at the steps where both trials reported one."""
    common = sorted(baseline.losses.keys() & variant.losses.keys())
    differences: Iterable[float] = (
        _relative_difference(baseline.losses[step], variant.losses[step]) for step in common
    )
    return Losses(common[-1] if common else 0, max(differences, default=0.0))


def _relative_difference(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    return abs(one - other) / max(abs(one), abs(other))
