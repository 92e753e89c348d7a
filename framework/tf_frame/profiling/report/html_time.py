"""Sections of the HTML page on time: phases, steps, kinds, layers and operations.

Each takes a report, and is empty if that has no such figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame.profiling.report import html_charts as charts
from tf_frame.profiling.report.figure_texts import (
    LAYERS,
    OUTSIDE,
    count_text,
    ms_text,
    percent_text,
)
from tf_frame.profiling.report.figures import Operation, Report, Row, Use
from tf_frame.profiling.report.html_elements import Markup, element, join, table
from tf_frame.profiling.report.html_parts import (
    COLORS,
    SHOWN,
    folded,
    named,
    pair,
    section,
    with_bar,
)
from tf_frame.profiling.report.rows import rolled_up

# Of many layers, those within a scope of a greater share have rows of their own.
_LARGE = 0.15
# Steps that take as many medians stand out.
_SLOW = 1.5


def phases(report: Report) -> Markup:
    """The phases as parts of one bar, and their figures."""
    if not report.phases:
        return Markup("")
    parts = [
        charts.Part(phase.label, phase.ms, ms_text(phase.ms), COLORS[phase.kind])
        for phase in report.phases
    ]
    rows = [
        (named(phase.label, COLORS[phase.kind]), ms_text(phase.ms), percent_text(phase.share))
        for phase in report.phases
    ]
    title = f"Where the step goes (mean step: {ms_text(report.step.mean_ms)})"
    legend = table(("phase", "per step", "share"), rows, right=(1, 2))
    return section(title, charts.stacked_bar(title, parts), legend)


def step_times(report: Report) -> Markup:
    """Histogram, and the steps in order, of which slow ones stand out."""
    step = report.step
    if not step.ms_of_steps:
        return Markup("")
    histogram = charts.columns(
        "Histogram of step times",
        [each.steps for each in step.histogram],
        [f"{ms_text(b.from_ms)} to {ms_text(b.to_ms)}: {b.steps} steps" for b in step.histogram],
        ends=(ms_text(min(step.ms_of_steps)), ms_text(max(step.ms_of_steps))),
        labels=[str(each.steps or "") for each in step.histogram],
    )
    names = zip(_step_names(report), step.ms_of_steps, strict=True)
    in_order = charts.columns(
        "Time of each step",
        step.ms_of_steps,
        [f"{name}: {ms_text(ms)}" for name, ms in names],
        ends=(f"step {report.first_step}", f"step {report.last_step}"),
        mark=charts.Mark(step.median_ms, f"median {ms_text(step.median_ms)}"),
        highlighted=[i for i, ms in enumerate(step.ms_of_steps) if ms > _SLOW * step.median_ms],
    )
    return pair(section("Step times", histogram), section("Step times in order", in_order))


def _step_names(report: Report) -> list[str]:
    """Global steps, unless some between the first and the last were not recorded."""
    number = len(report.step.ms_of_steps)
    if report.last_step - report.first_step == number - 1:
        return [f"step {report.first_step + i}" for i in range(number)]
    return [f"recorded step {i + 1}" for i in range(number)]


def kinds_and_layers(report: Report) -> Markup:
    """Time of operations by kind and by layer; many layers are added up to outer scopes first."""
    outer = rolled_up(report.layers, _LARGE) if len(report.layers) > SHOWN else ()
    return pair(
        _rows("Time by kind of operation", report.kinds, "c0"),
        _rows(LAYERS, report.layers, "c2", summary=outer),
    )


def types(report: Report) -> Markup:
    """Time of operations by type."""
    return _rows("Time by type of operation", report.types, "c3")


def _rows(title: str, rows: Sequence[Row], color: str, *, summary: Sequence[Row] = ()) -> Markup:
    most = max((row.ms for row in [*rows, *summary]), default=0.0)

    def cells(row: Row) -> tuple[str, ...]:
        name = with_bar(row.name or OUTSIDE, row.ms, most, color)
        return name, ms_text(row.ms), percent_text(row.share), count_text(row.count)

    heading, right = ("", "per step", "share", "runs"), (1, 2, 3)
    all_rows = list(map(cells, rows))
    return folded(title, heading, all_rows, right=right, summary=list(map(cells, summary)))


def operations(report: Report) -> Markup:
    """The operations that take most time."""
    most = max((row.ms for row in report.operations), default=0.0)
    # Without known rates their column would be empty.
    rates = ["GFLOP/s"] if any(row.gflops_per_sec for row in report.operations) else []
    heading = ("operation", "per step", "share", "runs", *rates, "type", "device")
    cells = [_operation(row, most, rated=bool(rates)) for row in report.operations]
    return folded(
        "Top operations by their own time", heading, cells, right=range(1, 4 + len(rates))
    )


def _operation(row: Operation, most: float, *, rated: bool) -> tuple[str, ...]:
    rate = "" if row.gflops_per_sec is None else f"{row.gflops_per_sec:.1f}"
    return (
        with_bar(row.name, row.ms, most, "c0"),
        ms_text(row.ms),
        percent_text(row.share),
        count_text(row.count),
        *([rate] if rated else []),
        row.type,
        row.device,
    )


def use_over_time(report: Report) -> Markup:
    """Operations that run at the same time through one step, for each device."""
    return join(_use(use, report.cores) for use in report.use)


def _use(use: Use, cores: int) -> Markup:
    # Those of another task, or on a GPU, are not bounded by the processors of this machine.
    most = max([float(cores) if use.device.startswith("CPU:") else 1.0, *use.timeline])
    picture = charts.area(
        f"Operations that run on {use.device} at the same time",
        use.timeline,
        most,
        ends=(f"begin of step {use.step}", "end"),
        mark=charts.Mark(use.mean, f"mean {use.mean:.2f}"),
    )
    note = (
        f"Operations at the same time; the top is {most:.2g}. {use.device} is busy "
        f"{percent_text(use.busy_share)} of the time; one operation may use several cores."
    )
    return section(f"{use.device} through a step", picture, element("p", note, class_="soft"))
