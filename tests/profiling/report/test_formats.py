"""Figures as text."""

import pytest

from tf_frame.profiling.report.formats import (
    format_count,
    format_ms,
    format_percent,
    format_signed_ms,
)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.00 ms"),
        (0.004, "< 0.01 ms"),
        (1.234, "1.23 ms"),
        (12.34, "12.3 ms"),
        (1234.5, "1,234 ms"),
    ],
)
def test_times_have_three_figures(ms, text):
    assert format_ms(ms) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(-12.34, "-12.3 ms"), (0.0041, "+0.004 ms"), (0, "+0.000 ms")]
)
def test_differences_have_a_sign(ms, text):
    assert format_signed_ms(ms) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0.0 %"), (0.0004, "< 0.1 %"), (0.034, "3.4 %"), (1.2, "120 %")]
)
def test_shares_are_percentages(share, text):
    assert format_percent(share) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1"), (2.5, "2.5"), (9999, "9,999"), (60352, "60.4 k"), (1.607e10, "16.1 G")],
)
def test_counts_have_units(count, text):
    assert format_count(count) == text
