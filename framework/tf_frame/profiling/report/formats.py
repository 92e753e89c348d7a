"""Formats times, shares and counts of a report, and names its rows and tables."""

from __future__ import annotations

OUTSIDE = "(outside of all scopes)"  # The row of operations without a layer.
NO_CLONE = "(in no clone)"  # The row of operations without a clone.
WHOLE_MODEL = "(the whole model)"  # The row of the outermost scope.
# Headings that explain why a layer has different times in two tables.
LAYERS = "Layers, forward and backward, without inner scopes that have their own row"
COSTS = "Parameters and floating-point operations, each scope with all its inner scopes"
# Least number, size of the unit, unit.
_COUNTS = ((1e12, 1e12, " T"), (1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k"))


def format_ms(ms: float) -> str:
    """Returns milliseconds with three figures, and no more than two decimals."""
    if 0 < ms < 0.01:
        return "< 0.01 ms"
    decimals = 0 if ms >= 100 else 1 if ms >= 10 else 2
    return f"{ms:,.{decimals}f} ms"


def format_percent(share: float) -> str:
    """Returns a share from 0 to 1 in percent."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def format_count(count: float) -> str:
    """Returns a number in thousands, millions ... with three figures."""
    for least, size, unit in _COUNTS:
        if count >= least:
            return f"{count / size:.3g}{unit}"
    return f"{count:,.0f}" if count == int(count) else f"{count:.1f}"


def format_signed_ms(ms: float) -> str:
    """Returns a difference in milliseconds with its sign."""
    size = f"{abs(ms):.3f} ms" if abs(ms) < 0.01 else format_ms(abs(ms))
    return f"{'-' if ms < 0 else '+'}{size}"
