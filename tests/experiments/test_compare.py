"""Two trials in turns, with trials that need no process."""

import itertools

import pytest

from tf_frame.experiments.compare import (
    FIRST_STEPS,
    Comparison,
    Losses,
    Verdict,
    compare,
    compare_losses,
)
from tf_frame.experiments.ratio import Ratio
from tf_frame.experiments.trial import Turn


class FakeTrial:
    """A trial whose steps take the time that a clock says.

    Attributes:
      turns: all trials' turns, with the steps of each.
    """

    turns = []

    def __init__(self, step_secs, *, examples=8, loss=lambda step: 1 / step):
        self.examples_per_step, self.losses = examples, {}
        self._step_secs, self._loss, self._step = step_secs, loss, 0

    def wait_until_ready(self):
        self.turns.append((self, 0))

    def train(self, steps):
        self._step += steps
        self.turns.append((self, steps))
        self.losses[self._step] = self._loss(self._step)
        return Turn(self._step, steps * next(self._step_secs), self.losses[self._step])


@pytest.fixture(autouse=True)
def turns(monkeypatch):
    monkeypatch.setattr(FakeTrial, "turns", [])
    return FakeTrial.turns


def always(secs):
    return itertools.repeat(secs)


def test_a_sure_gain_ends_early_and_both_go_first_equally_often(turns):
    baseline, variant = FakeTrial(always(0.2)), FakeTrial(always(0.1))
    comparison = compare(baseline, variant, secs=60)
    assert comparison.verdict == Verdict.FASTER
    assert comparison.ratio == pytest.approx((2, 2, 2))
    assert comparison.pairs == 6
    assert comparison.losses == Losses(10 + 1 + 2 + 4 + 6 * 5, 0.0)
    measured = turns[-2 * comparison.pairs :]
    assert {steps for _, steps in measured} == {5}  # About a second of the baseline.
    firsts = [trial for trial, _ in measured[::2]]
    assert firsts == [baseline, variant] * 3


def test_the_first_steps_are_single_ones_with_a_loss_each():
    baseline = FakeTrial(always(0.1))
    compare(baseline, FakeTrial(always(0.1)), secs=60)
    assert list(baseline.losses)[:FIRST_STEPS] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]


def test_a_larger_batch_counts_its_examples_and_compares_no_losses():
    comparison = compare(FakeTrial(always(0.1)), FakeTrial(always(0.1), examples=16), secs=60)
    assert comparison.ratio.ratio == pytest.approx(2) and comparison.losses is None


def test_equal_and_slower_trials_end_early_too():
    assert compare(FakeTrial(always(0.1)), FakeTrial(always(0.1)), secs=60).pairs == 6
    slower = compare(FakeTrial(always(0.1)), FakeTrial(always(0.2)), secs=60)
    assert (slower.verdict, slower.pairs) == (Verdict.SLOWER, 6)


def test_a_noisy_machine_gets_no_figure():
    noise = itertools.cycle([0.1, 0.4, 0.2, 0.1, 0.3, 0.1, 0.5])
    comparison = compare(FakeTrial(noise), FakeTrial(noise), secs=0)
    assert comparison.verdict == Verdict.UNCLEAR and comparison.pairs == 6
    assert not comparison.has_figure


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        ((1.1, 1.06, 1.2), Verdict.FASTER),
        ((1.0, 0.97, 1.02), Verdict.NO_GAIN),  # Two equal processes differ as much.
        ((0.99, 0.9, 1.02), Verdict.NO_GAIN),
        ((1.05, 1.0, 1.09), Verdict.UNCLEAR),
        ((1.1, 0.9, 1.3), Verdict.UNCLEAR),
        ((0.9, 0.85, 0.94), Verdict.SLOWER),
    ],
)
def test_verdicts(ratio, verdict):
    comparison = Comparison(Ratio(*ratio), 6, 9.0, None)
    assert comparison.verdict == verdict and comparison.has_figure == (ratio != (1.1, 0.9, 1.3))


def test_losses_are_compared_at_steps_that_both_report():
    one, other = FakeTrial(always(1)), FakeTrial(always(1), loss=lambda step: 1 / step + 0.01)
    for trial, steps in ((one, (1, 1, 3)), (other, (2, 3, 4))):
        for count in steps:
            trial.train(count)
    losses = compare_losses(one, other)
    assert losses == Losses(5, pytest.approx(0.01 / 0.21))  # Both reported the steps 2 and 5.
    both_nan = FakeTrial(always(1), loss=lambda step: float("nan"))
    both_nan.train(1)
    assert compare_losses(both_nan, both_nan) == Losses(1, 0.0)


@pytest.mark.parametrize(
    ("losses", "text"),
    [
        (Losses(40, 0.0), "losses equal up to step 40"),
        (Losses(40, 3e-6), "losses equal but for rounding, by 3e-06 up to step 40"),
        (Losses(40, 0.2), "losses differ, by 2e-01 up to step 40"),
    ],
)
def test_losses_in_words(losses, text):
    assert str(losses) == text


def test_a_baseline_is_compared_again_without_a_new_start(turns):
    baseline = FakeTrial(always(0.1))
    compare(baseline, FakeTrial(always(0.2)), secs=60)
    turns.clear()
    again = compare(baseline, FakeTrial(always(0.05)), secs=60)
    assert (baseline, 0) not in turns and again.verdict == Verdict.FASTER
    # The losses of the first steps of both are compared, whenever they were.
    assert again.losses.difference == 0 and again.losses.steps >= FIRST_STEPS
