"""HTML page of a comparison of runs: one file, which needs no network.

From top to bottom: the verdict, the options that differ, curves, metrics, speed, profiles, and the
pictures of the last evaluations side by side.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup

from tf_frame.config.metric_directions import higher_is_better
from tf_frame.errors import ConfigError, DataError
from tf_frame.file_system import file_size, read_bytes
from tf_frame.html_curves import CURVES_STYLE, color, curves, curves_script
from tf_frame.html_page import render_page
from tf_frame.html_parts import GOOD, HINT, NAMED, NOTE, SECTION, TILE, TILES, folded, table
from tf_frame.profiling.report.formats import format_ms, format_signed_ms
from tf_frame.runs.comparison.compared_run import ComparedRun
from tf_frame.runs.comparison.comparison import Comparison, Rows
from tf_frame.runs.comparison.settings import Setting
from tf_frame.runs.comparison.verdict import sentences
from tf_frame.text import figure, readable_bytes

# Bounds of the page's size: curves that are drawn, points of one, bytes of a picture and of all.
_MOST_CURVES, _MOST_POINTS = 40, 1000
_LARGEST_PICTURE, _MOST_BYTES = 2 * 2**20, 16 * 2**20
_SHOWN_CURVES = 4
_STYLE = (
    CURVES_STYLE
    + """
.curve-pair, .pictures { display: grid; gap: .8rem 1rem; }
.curve-pair { grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); }
.pictures { grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); }
.pictures figure { margin: 0; }
.pictures img { width: 100%; height: auto; image-rendering: auto; }
"""
)
_BOLD = Markup("<b>{}</b>")
_CURVE = Markup("<div><p>{}</p>{}</div>")
_CURVES = Markup('<div class="curve-pair">{}</div>')
_MORE = Markup('<details><summary class="soft">{} more curves</summary>{}</details>')
_PICTURE = Markup(
    '<figure><img alt="{} of {}" src="data:image/png;base64,{}"/>'
    "<figcaption>{}</figcaption></figure>"
)
_PICTURES = Markup('<p>{}</p><div class="pictures">{}</div>')


def comparison_page(comparison: Comparison, *, note: str = "") -> str:
    """Returns the page; `note` stands below the verdict."""
    step = "the last step of each" if comparison.step is None else f"step {comparison.step}"
    sections = (
        _verdict(comparison, note),
        _runs(comparison),
        _rows("Options that differ", comparison, comparison.options),
        _curves(comparison),
        _rows(f"Metrics at {step}", comparison, comparison.metric_rows(), marks_best=True),
        _rows(f"{comparison.metric} by step", comparison, comparison.step_rows(), name="step"),
        _rows("Speed", comparison, comparison.speed_rows()),
        _profiles(comparison),
        _pictures(comparison),
        _rows("Packages that differ", comparison, comparison.origin),
    )
    names = ", ".join(f"{run.label}: {run.name}" for run in comparison.runs)
    return render_page(
        title=f"{len(comparison.runs)} runs by {comparison.metric}",
        subtitle=names,
        body=Markup().join(sections) + curves_script(),
        style=_STYLE,
    )


def _verdict(comparison: Comparison, note: str) -> Markup:
    tiles = Markup().join(
        TILE.format(_mean(setting), f"{comparison.metric}, {setting.labels} {setting.name}")
        for setting in comparison.settings
        if setting.values
    )
    box = GOOD if comparison.verdict.best else HINT
    lines = Markup().join(box.format(line) for line in sentences(comparison.verdict))
    notes = Markup().join(NOTE.format(text) for text in (*comparison.notes, note) if text)
    return TILES.format(tiles) + SECTION.format("Which is better", lines + notes)


def _mean(setting: Setting) -> str:
    spread = "" if setting.deviation is None else f" ± {figure(setting.deviation)}"
    return f"{figure(setting.mean)}{spread}"


def _runs(comparison: Comparison) -> Markup:
    order = [run.label for run in comparison.runs]

    def name(run: ComparedRun) -> Markup:
        return NAMED.format(color(order.index(run.label)), f"{run.label}  {run.name}")

    columns = {
        "run": name,
        "state": lambda run: run.record.state,
        "step": lambda run: "" if run.record.step is None else str(run.record.step),
        f"best {comparison.metric}": lambda run: _best(comparison, order.index(run.label)),
    }
    return SECTION.format("Runs", table(comparison.runs, columns, text_columns=("state",)))


def _best(comparison: Comparison, number: int) -> str:
    rows = list(comparison.best_rows().values())
    value, step = (row[number] for row in rows) if rows else ("", "")
    return f"{value} at step {step}" if value else ""


def _rows(
    title: str, comparison: Comparison, rows: Rows, *, name: str = "", marks_best: bool = False
) -> Markup:
    def cell(number: int, row: tuple[str, Sequence[str]]) -> str:
        return _marked(row, number) if marks_best else row[1][number]

    columns: dict[str, Callable[[tuple[str, Sequence[str]]], str]] = {name: lambda row: row[0]}
    for number, run in enumerate(comparison.runs):
        columns[run.label] = functools.partial(cell, number)
    return folded(title, list(rows.items()), columns)


def _marked(row: tuple[str, Sequence[str]], number: int) -> str | Markup:
    """Returns the cell of a run, in bold if it is the best of the row."""
    name, cells = row
    with contextlib.suppress(ConfigError):
        sign = 1 if higher_is_better(name, None, "") else -1
        values = [sign * float(cell) if cell else -math.inf for cell in cells]
        if values[number] == max(values) and min(values) < max(values):
            return _BOLD.format(cells[number])
    return cells[number]


def _curves(comparison: Comparison) -> Markup:
    order = [run.label for run in comparison.runs]
    charts = []
    for name, lines in list(comparison.curves().items())[:_MOST_CURVES]:
        drawn = {label: _thinned(points) for label, points in lines.items()}
        drawn = {label: points for label, points in drawn.items() if points}
        if any(len(points) > 1 for points in drawn.values()):
            charts.append(_CURVE.format(name, curves(name, drawn, order)))
    if not charts:
        return Markup()
    content = _CURVES.format(Markup().join(charts[:_SHOWN_CURVES]))
    if more := charts[_SHOWN_CURVES:]:
        content += _MORE.format(len(more), _CURVES.format(Markup().join(more)))
    note = "Drag across a chart to zoom; a double click shows all again."
    return SECTION.format("Curves", content + NOTE.format(note))


def _thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Returns finite points, of many the medians of neighbours."""
    points = [point for point in points if math.isfinite(point[1])]
    size = -(-len(points) // _MOST_POINTS)
    if size <= 1:
        return points
    parts = (points[start : start + size] for start in range(0, len(points), size))
    return [(part[-1][0], statistics.median(value for _, value in part)) for part in parts]


def _profiles(comparison: Comparison) -> Markup:
    sections = Markup()
    for (before, after), compared in comparison.profiles.items():
        columns = {
            "": lambda change: change.name or "(no layer)",
            "difference": lambda change: format_signed_ms(change.difference_ms),
            before: lambda change: format_ms(change.before_ms),
            after: lambda change: format_ms(change.after_ms),
            "p": lambda change: f"{change.p:.2g}",
        }
        changes = [compared.step, *compared.phases, *compared.kinds, *compared.layers]
        changes = [change for change in changes if change.significant or change is compared.step]
        sections += folded(f"Profiles of a step, {before} and {after}", changes, columns)
    return sections


def _pictures(comparison: Comparison) -> Markup:
    of_runs = [(run, run.pictures()) for run in comparison.runs]
    names = dict.fromkeys(name for _, pictures in of_runs for name in pictures)
    left, groups, notes = _MOST_BYTES, Markup(), []
    for name in names:
        shown = []
        for run, pictures in of_runs:
            size = file_size(pictures[name]) if name in pictures else 0
            if size > min(_LARGEST_PICTURE, left):
                notes.append(f"{name} of {run.label} is left out: {readable_bytes(size)}")
            elif size:
                left -= size
                shown += list(_picture(run, name, pictures[name]))
        groups += _PICTURES.format(name, Markup().join(shown)) if shown else Markup()
    content = groups + Markup().join(map(NOTE.format, notes))
    return SECTION.format("Pictures of the last evaluation", content) if content else Markup()


def _picture(run: ComparedRun, name: str, path: str) -> Iterator[Markup]:
    with contextlib.suppress(DataError, OSError):  # It was removed just now.
        data = base64.b64encode(read_bytes(path)).decode()
        yield _PICTURE.format(name, run.label, data, f"{run.label}  {run.name}")
