"""Figures as text."""

import pytest

from tf_frame.profiling.report.formats import (
    format_count,
    format_ms,
    format_percent,
    format_signed_ms,
)


@pytest.mark.parametrize(
    ("format_figure", "figure", "text"),
    [
        (format_ms, 0, "0.00 ms"),
        (format_ms, 0.004, "< 0.01 ms"),
        (format_ms, 1.234, "1.23 ms"),
        (format_ms, 12.34, "12.3 ms"),
        (format_ms, 1234.5, "1,234 ms"),
        (format_signed_ms, -12.34, "-12.3 ms"),
        (format_signed_ms, 0.0041, "+0.004 ms"),
        (format_signed_ms, 0, "+0.000 ms"),
        (format_percent, 0, "0.0 %"),
        (format_percent, 0.0004, "< 0.1 %"),
        (format_percent, 0.034, "3.4 %"),
        (format_percent, 1.2, "120 %"),
        (format_count, 1, "1"),
        (format_count, 2.5, "2.5"),
        (format_count, 9999, "9,999"),
        (format_count, 60352, "60.4 k"),
        (format_count, 1.607e10, "16.1 G"),
    ],
)
def test_figures_have_three_digits_and_a_unit(format_figure, figure, text):
    assert format_figure(figure) == text
