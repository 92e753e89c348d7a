"""Writes a comparison of runs as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from tf_frame.profiling.report.formats import format_ms, format_signed_ms
from tf_frame.runs.comparison.comparison import TRAINING, Comparison, Rows
from tf_frame.runs.comparison.verdict import sentences
from tf_frame.text import columns, figure
from tf_frame.text_width import terminal_width, wrapped

_BLOCKS = "▁▂▃▄▅▆▇█"
# Rows of a table; a class-wise metric has a row for each class.
_MOST_ROWS = 40
_SHOWN_PHASES = 5
# Columns of a curve beside its label and last value.
_BESIDE_CURVE = 24


def format_runs(comparison: Comparison) -> str:
    """Returns the text."""
    parts = [
        _runs(comparison),
        _table("options that differ", comparison, comparison.options),
        _table(f"metrics at {_step(comparison)}", comparison, comparison.metric_rows()),
        _table("", comparison, comparison.best_rows()),
        _table(f"{comparison.metric} by step", comparison, comparison.step_rows()),
        *_charts(comparison),
        _table("speed", comparison, comparison.speed_rows()),
        _table("packages that differ", comparison, comparison.origin),
        *_profiles(comparison),
        _verdict(comparison),
    ]
    return "\n\n".join(filter(None, parts))


def _step(comparison: Comparison) -> str:
    return "the last step of each" if comparison.step is None else f"step {comparison.step}"


def _runs(comparison: Comparison) -> str:
    rows = []
    for run in comparison.runs:
        record = run.record
        of = "" if record.max_steps is None else f" of {record.max_steps}"
        rows.append((run.label, run.name, record.state, f"step {record.step}{of}"))
    return columns(rows, indent=0)


def _table(title: str, comparison: Comparison, rows: Rows) -> str:
    if not rows:
        return ""
    labels = [run.label for run in comparison.runs]
    shown = list(rows.items())[:_MOST_ROWS]
    table = [("", *labels), *((name, *cells) for name, cells in shown)]
    more = (
        f"\n  and {len(rows) - len(shown)} more; --html shows all" if len(rows) > len(shown) else ""
    )
    text = columns(table, right=range(1, len(labels) + 1))
    return f"{title}\n{text}{more}" if title else f"{text}{more}"


def _charts(comparison: Comparison) -> Iterator[str]:
    """Yields the curves of the metric and of the training loss, a line of blocks a run."""
    for name, lines in comparison.curves().items():
        is_curve = any(len(points) > 1 for points in lines.values())
        if is_curve and name in (comparison.metric, f"{TRAINING}loss"):
            yield _chart(name, lines)


def _chart(name: str, lines: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    lines = {label: [p for p in line if math.isfinite(p[1])] for label, line in lines.items()}
    lines = {label: line for label, line in lines.items() if line}
    points = [point for line in lines.values() for point in line]
    if not points:
        return f"{name}: no finite value"
    low, high = min(value for _, value in points), max(value for _, value in points)
    first, last = min(step for step, _ in points), max(step for step, _ in points)
    width = max(terminal_width() - _BESIDE_CURVE, 10)
    rows = [
        (label, _blocks(line, (first, last), (low, high), width), figure(line[-1][1]))
        for label, line in lines.items()
    ]
    title = f"{name}, {figure(low)} to {figure(high)}, steps {first} to {last}"
    return f"{title}\n" + columns(rows, right=[2])


def _blocks(
    line: Sequence[tuple[int, float]],
    steps: tuple[int, int],
    values: tuple[float, float],
    width: int,
) -> str:
    """Returns a curve as blocks of eight heights; a blank where a run has no value yet."""
    first, last = steps
    low, high = values
    count = min(width, len(line)) if len(line) > 1 else 1
    cells, position = [], 0
    for column in range(count):
        step = first + (last - first) * (column + 1) / count
        while position + 1 < len(line) and line[position + 1][0] <= step:
            position += 1
        place, value = line[position]
        if place > step:
            cells.append(" ")
            continue
        share = (value - low) / (high - low) if high > low else 1.0
        cells.append(_BLOCKS[min(int(share * len(_BLOCKS)), len(_BLOCKS) - 1)])
    return "".join(cells)


def _profiles(comparison: Comparison) -> Iterator[str]:
    for (before, after), compared in comparison.profiles.items():
        step = compared.step
        times = f"{format_ms(step.before_ms)} -> {format_ms(step.after_ms)}"
        noise = "" if step.significant else ", may be noise"
        rows = [
            (format_signed_ms(change.difference_ms), change.name)
            for change in (*compared.phases, *compared.kinds)
            if change.significant
        ][:_SHOWN_PHASES]
        table = f"\n{columns(rows, right=[0])}" if rows else ""
        yield f"profiles, {before} -> {after}: a step takes {times}{noise}{table}"


def _verdict(comparison: Comparison) -> str:
    notes = (f"note: {note}" for note in comparison.notes)
    lines = [*sentences(comparison.verdict), *notes]
    width = terminal_width()
    return "\n".join(line for text in lines for line in wrapped(text, width, rest="  "))
