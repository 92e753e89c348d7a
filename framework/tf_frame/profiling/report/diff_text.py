"""Writes the comparison of two profile reports as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame.profiling.report.diff import Change, Comparison
from tf_frame.profiling.report.formats import LAYERS, OUTSIDE, format_ms, format_signed_ms
from tf_frame.text import columns

# Rows of a table: significant differences, and differences that may be noise.
_SHOWN, _SHOWN_NOISE = 12, 3
_NOISE = "may be noise"


def format_comparison(comparison: Comparison) -> str:
    """Returns the text."""
    c = comparison
    runs = columns(
        [
            ("before", c.before, f"{c.steps_before} steps"),
            ("after", c.after, f"{c.steps_after} steps"),
        ],
        indent=0,
    )
    tables = [
        _table("phases", c.phases),
        _table("hooks", c.hooks),
        _table("kinds of operations", c.kinds),
        _table(LAYERS.lower(), c.layers),
        _table("operations", c.operations),
    ]
    notes = [f"note: {note}" for note in c.notes]
    if not c.can_tell:
        notes.append(f"note: {too_few_steps(c)}")
    steps = [_format_step(change) for change in (c.step, c.example) if change]
    return "\n".join([runs, *notes, "", *steps, *(f"\n{table}" for table in tables if table)])


def too_few_steps(comparison: Comparison) -> str:
    """Returns a note that no difference can be told from noise."""
    c = comparison
    return (
        f"{c.steps_before} and {c.steps_after} steps are too few to tell a difference from noise; "
        "profile 10 steps of each"
    )


def _format_step(change: Change) -> str:
    times = f"{format_ms(change.before_ms)} -> {format_ms(change.after_ms)}"
    difference = f"{format_signed_ms(change.difference_ms)}, {_percent(change)}"
    return f"{change.name}  {times}  ({difference}): {_verdict(change)}, p = {change.p:.2g}"


def _verdict(change: Change) -> str:
    if not change.significant:
        return _NOISE
    return "slower" if change.difference_ms > 0 else "faster"


def _table(title: str, changes: Sequence[Change]) -> str:
    """A heading and the largest differences, with the name last because it may be long."""
    if not changes:
        return ""
    certain = [change for change in changes if change.significant]
    if not certain:
        return f"{title}: none of {len(changes)} differs by more than noise"
    noise = changes[len(certain) :]
    rows = [*certain[:_SHOWN], *noise[:_SHOWN_NOISE]]
    cells = [("DIFFERENCE", "%", "BEFORE", "AFTER", ""), *map(_row, rows)]
    left_out = len(changes) - len(rows)
    more = f"\n  and {left_out} more; --json has all" if left_out else ""
    return (
        f"{title}: {len(certain)} of {len(changes)} differ\n{columns(cells, right=range(4))}{more}"
    )


def _row(change: Change) -> tuple[str, ...]:
    return (
        format_signed_ms(change.difference_ms),
        _percent(change),
        format_ms(change.before_ms),
        format_ms(change.after_ms),
        (change.name or OUTSIDE) + ("" if change.significant else f"  ({_NOISE})"),
    )


def _percent(change: Change) -> str:
    return "new" if change.percent is None else f"{change.percent:+.1f} %"
