"""Ratios of paired times, and their intervals."""

import numpy as np
import pytest

from tf_frame.experiments.ratio import Ratio, paired_ratio


def test_equal_pairs_have_no_interval():
    assert paired_ratio([(3.0, 2.0)] * 6) == (1.5, 1.5, 1.5)


def test_totals_count_and_not_the_median():
    # A checkpoint in one of the turns is a cost as well.
    pairs = [(1.0, 1.0)] * 5 + [(6.0, 1.0)]
    ratio = paired_ratio(pairs)
    assert ratio.ratio == pytest.approx(11 / 6)
    assert ratio.low == 1.0 and ratio.high > 2


def test_load_that_meets_both_turns_cancels():
    load = np.random.default_rng(1).uniform(1, 3, size=20)
    ratio = paired_ratio([(1.2 * slow, slow) for slow in load])
    assert ratio == pytest.approx((1.2, 1.2, 1.2))


def test_intervals_contain_the_true_ratio_as_often_as_they_say():
    noise = np.random.default_rng(2).lognormal(sigma=0.1, size=(200, 12, 2))
    intervals = [paired_ratio([tuple(pair) for pair in pairs]) for pairs in noise]
    # The percentile bootstrap of twelve pairs is a little narrow (Efron and Tibshirani, 1993).
    assert 0.88 <= np.mean([low <= 1 <= high for _, low, high in intervals]) <= 0.98


def test_a_surer_interval_is_wider():
    pairs = [(1.0 + 0.1 * (i % 3), 1.0) for i in range(9)]
    usual, sure = paired_ratio(pairs), paired_ratio(pairs, confidence=0.999)
    assert sure.low < usual.low < usual.ratio < usual.high < sure.high


def test_text_and_scale():
    assert str(Ratio(1.314, 1.261, 1.36).scaled(2)) == "2.63x (2.52 to 2.72)"
