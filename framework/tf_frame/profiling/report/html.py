"""HTML page of a report: one file without scripts, which needs no network.

    html_page(report) -> text of the file

From top to bottom: the figures of the step, hints, where the time of the step goes, and then the
tables that explain it. `tf_frame.html_page` is the frame. `Markup` escapes every text that is
formatted into it, so that no name of a plugin's operation can break the page.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from markupsafe import Markup

from tf_frame.html_page import render_page
from tf_frame.html_parts import (
    GOOD,
    HINT,
    NAMED,
    NOTE,
    PAIR,
    SECTION,
    SHOWN,
    TILE,
    TILES,
    Columns,
    folded,
    table,
)
from tf_frame.profiling.report import contents, html_charts as charts
from tf_frame.profiling.report.formats import (
    COSTS,
    LAYERS,
    NO_CLONE,
    OUTSIDE,
    WHOLE_MODEL,
    format_count,
    format_ms,
    format_percent,
)
from tf_frame.profiling.report.graph_hints import SLOW_INPUT
from tf_frame.profiling.report.operation_tables import roll_up
from tf_frame.profiling.report.proofs import proof_text
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, SUMMARY
from tf_frame.text import readable_bytes

# Kind of a phase -> CSS class of its colour.
_COLORS = {
    contents.HOST: "c0",
    contents.INPUT: "c1",
    contents.DEVICE: "c2",
    contents.COMMUNICATION: "c3",
    HOOK: "c4",
    CHECKPOINT: "c5",
    contents.OVERHEAD: "c6",
    contents.LOOP: "c7",
    SUMMARY: "c8",
}
# Columns of text, besides the first one; figures are aligned to the right.
_TEXT_COLUMNS = ("type", "device", "phases")
_table = functools.partial(table, text_columns=_TEXT_COLUMNS)
_folded = functools.partial(folded, text_columns=_TEXT_COLUMNS)
# Of many layers, only scopes with a greater share are divided into the layers inside.
_LARGE = 0.15
# Steps that take this many medians are highlighted.
_SLOW = 1.5

_HINT = Markup("<b>{}</b><p>{}<small>{}</small></p>")
_PROOF = Markup("<br/>{}")
_WIDE = Markup('<div class="wide">{}{}</div>')
_TASK = Markup("{}<small> on {}</small>{}")
_ALARM = Markup('<div class="alarm">slower than the others</div>')


def html_page(report: contents.Report, folder: str = "") -> str:
    """Returns the page of a report, titled by the model, the folder of the run and the profile."""
    sections = (
        _phases(report),
        _step_times(report),
        _kinds_and_layers(report),
        _operations(report.operations),
        *(_device_use(use, report.cores) for use in report.use),
        _clones(report.clones),
        _tasks(report.tasks),
        _hooks(report.hooks, report.step.mean_ms),
        *map(_memory, report.memory),
        _costs(report.costs),
        _rows("Time by type of operation", report.types, "c3"),
    )
    body = TILES.format(_tiles(report)) + _hints(report) + Markup().join(sections)
    titles = (report.model, folder, f"profile {report.run}")
    title = " · ".join(filter(None, titles))
    return render_page(title=title, subtitle=_subtitle(report), body=body)


def _subtitle(report: contents.Report) -> str:
    number = len(report.step.ms_of_steps)
    cores = f"{report.cores} core{'' if report.cores == 1 else 's'}"
    recorded = "1 recorded step" if number == 1 else f"{number} recorded steps"
    line = (
        f"{report.task} on {report.host}, {cores} · "
        f"{recorded}, {report.first_step} to {report.last_step}"
    )
    if report.examples_per_step:
        line += f" · {report.examples_per_step} examples per step"
    if report.profiler_ms:
        line += f" · {format_ms(report.profiler_ms)} per step of profiling itself are left out"
    return line


def _tiles(report: contents.Report) -> Markup:
    """The most important figures, in large type."""
    step = report.step
    spread = f"median step; p90 {format_ms(step.p90_ms)}, jitter {format_ms(step.jitter_ms)}"
    tiles = {spread: format_ms(step.median_ms)}
    if report.examples_per_sec is not None:
        tiles["examples per second"] = f"{report.examples_per_sec:,.3g}"
    tiles["waits for input"] = format_percent(report.input_share)
    tiles["hooks"] = format_percent(sum(hook.share for hook in report.hooks))
    if report.memory:
        peak = max(row.peak_bytes for row in report.memory)
        tiles["memory besides variables"] = readable_bytes(peak)
    if report.costs:
        tiles["parameters"] = format_count(report.costs[0].parameters)
    return Markup().join(TILE.format(value, name) for name, value in tiles.items())


def _hints(report: contents.Report) -> Markup:
    hints = [_hint(hint, report.proofs) for hint in report.hints]
    causes = {hint.cause for hint in report.hints}
    hints += [
        HINT.format(_HINT.format(_sentence(f"{proof.cause}."), proof_text(proof), ""))
        for proof in report.proofs
        if proof.cause not in causes
    ]
    if not report.hints:
        good = GOOD.format("None of the usual causes of slow steps was found.")
        return good + Markup().join(hints)
    return SECTION.format("What makes the step slow", Markup().join(hints))


def _hint(hint: contents.Hint, proofs: Sequence[contents.Proof]) -> Markup:
    advice = Markup.escape(_sentence(hint.remedy))
    if hint.option:
        option = Markup.escape(hint.option)
        advice = advice.replace(option, Markup("<code>{}</code>").format(option), 1)
    bound = "at least" if hint.cause == SLOW_INPUT else "up to"
    gain = f" (gains {bound} {format_percent(hint.severity)} of the step)" if hint.severity else ""
    for proof in proofs:
        if proof.cause == hint.cause:
            advice += _PROOF.format(proof_text(proof))
    return HINT.format(_HINT.format(_sentence(hint.text), advice, gain))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _phases(report: contents.Report) -> Markup:
    """The phases as parts of one bar, and their figures."""
    if not report.phases:
        return Markup()
    title = f"Where the step goes (mean step: {format_ms(report.step.mean_ms)})"
    parts = [
        charts.Part(phase.label, phase.ms, format_ms(phase.ms), _COLORS[phase.kind])
        for phase in report.phases
    ]
    legend: Columns = {
        "phase": lambda phase: NAMED.format(_COLORS[phase.kind], phase.label),
        "per step": lambda phase: format_ms(phase.ms),
        "share": lambda phase: format_percent(phase.share),
    }
    return SECTION.format(
        title,
        charts.stacked_bar(title, parts) + _table(report.phases, legend),
    )


def _step_times(report: contents.Report) -> Markup:
    """A histogram, and the steps in order with slow steps highlighted."""
    step, bins = report.step, report.step.histogram
    if not step.ms_of_steps:
        return Markup()
    histogram = charts.columns(
        "Histogram of step times",
        [bin.steps for bin in bins],
        [f"{format_ms(b.from_ms)} to {format_ms(b.to_ms)}: {b.steps} steps" for b in bins],
        ends=(format_ms(min(step.ms_of_steps)), format_ms(max(step.ms_of_steps))),
        labels=[str(bin.steps or "") for bin in bins],
    )
    # Without a gap between the recorded steps, the number of each is known.
    number = len(step.ms_of_steps)
    consecutive = report.last_step - report.first_step == number - 1
    first, name = (report.first_step, "step") if consecutive else (1, "recorded step")
    in_order = charts.columns(
        "Time of each step",
        step.ms_of_steps,
        [f"{name} {i}: {format_ms(ms)}" for i, ms in enumerate(step.ms_of_steps, first)],
        ends=(f"step {report.first_step}", f"step {report.last_step}"),
        mark=charts.Mark(step.median_ms, f"median {format_ms(step.median_ms)}"),
        highlighted=[i for i, ms in enumerate(step.ms_of_steps) if ms > _SLOW * step.median_ms],
    )
    return PAIR.format(
        SECTION.format("Step times", histogram), SECTION.format("Step times in order", in_order)
    )


def _kinds_and_layers(report: contents.Report) -> Markup:
    """Time of operations by kind and by layer; many layers are added up to outer scopes first."""
    outer = roll_up(report.layers, _LARGE) if len(report.layers) > SHOWN else ()
    kinds = _rows("Time by kind of operation", report.kinds, "c0")
    layers = _rows(LAYERS, report.layers, "c2", summary=outer)
    return PAIR.format(kinds, layers) if kinds and layers else kinds + layers


def _rows(
    title: str,
    rows: Sequence[contents.Row],
    color: str,
    *,
    summary: Sequence[contents.Row] = (),
    name: str = "",
    columns: Columns | None = None,
) -> Markup:
    """A section of groups of operations, with further columns; see `_folded`."""
    longest = max((row.ms for row in [*rows, *summary]), default=0.0)
    all_columns: Columns = {
        name: lambda row: _bar(row.name or OUTSIDE, row.ms, longest, color),
        "per step": lambda row: format_ms(row.ms),
        "share": lambda row: format_percent(row.share),
        "runs": lambda row: format_count(row.count),
        **(columns or {}),
    }
    return _folded(title, rows, all_columns, summary=summary)


def _operations(operations: Sequence[contents.Operation]) -> Markup:
    # Without a known rate the column would be empty.
    rated = any(row.gflops_per_sec for row in operations)
    columns: Columns = {
        **({"GFLOP/s": _rate} if rated else {}),
        **(_SHARES_OF_PEAKS if any(row.bandwidth_share for row in operations) else {}),
        "type": lambda row: row.type,
        "device": lambda row: row.device,
    }
    title = "Top operations by their own time"
    return _rows(title, operations, "c0", name="operation", columns=columns)


def _share(value: float | None) -> str:
    return "" if value is None else format_percent(value)


# The roofline: how near an operation is to the peaks of the machine.
_SHARES_OF_PEAKS: Columns = {
    "of peak": lambda row: _share(row.peak_share),
    "of bandwidth": lambda row: _share(row.bandwidth_share),
}


def _device_use(use: contents.Use, cores: int) -> Markup:
    """Operations that run at the same time through one step."""
    # Only the CPU of this task is bounded by the processors of this machine.
    highest = max([float(cores) if use.device.startswith("CPU:") else 1.0, *use.timeline])
    chart = charts.area(
        f"Operations that run on {use.device} at the same time",
        use.timeline,
        highest,
        ends=(f"begin of step {use.step}", "end"),
        mark=charts.Mark(use.mean, f"mean {use.mean:.2f}"),
    )
    note = (
        f"Operations at the same time; the top is {highest:.2g}. {use.device} is busy "
        f"{format_percent(use.busy_share)} of the time; one operation may use several cores."
    )
    return SECTION.format(f"{use.device} through a step", chart + NOTE.format(note))


def _clones(clones: Sequence[contents.CloneRow]) -> Markup:
    """A row for each clone, if there are several, and one for the operations of no clone."""
    if sum(bool(clone.name) for clone in clones) < 2:
        return Markup()
    longest = max(clone.active_ms for clone in clones)
    columns: Columns = {
        "clone": lambda row: _bar(row.name or NO_CLONE, row.active_ms, longest, "c0"),
        "computes": lambda row: format_ms(row.active_ms),
        "idle": lambda row: format_ms(row.idle_ms) if row.name else "",
        "waits at end": lambda row: format_ms(row.wait_ms) if row.name else "",
        "share of the step": lambda row: format_percent(row.share),
    }
    return SECTION.format("Clones", _table(clones, columns))


def _tasks(tasks: Sequence[contents.TaskRow]) -> Markup:
    """A row for each task, if there are several."""
    if len(tasks) < 2:
        return Markup()
    columns: Columns = {
        "task": lambda row: _TASK.format(row.task, row.host, _ALARM if row.straggler else ""),
        "phases": _task_phases,
        "median": lambda row: format_ms(row.median_ms),
        "p90": lambda row: format_ms(row.p90_ms),
        "steps": lambda row: str(row.steps),
    }
    return SECTION.format("Tasks", _table(tasks, columns))


def _task_phases(row: contents.TaskRow) -> Markup:
    parts = [
        charts.Part(kind.replace("_", " "), share, format_percent(share), _COLORS[kind])
        for kind, share in row.shares.items()
    ]
    return _WIDE.format(charts.stacked_bar(f"Phases of {row.task}", parts), "")


def _memory(row: contents.MemoryRow) -> Markup:
    """The operations that own the memory of a device at its peak."""
    largest = max((owner.bytes for owner in row.owners), default=0)
    columns: Columns = {
        "owner": lambda owner: _bar(owner.name, owner.bytes, largest, "c3"),
        "bytes": lambda owner: readable_bytes(owner.bytes),
        "of the peak": lambda owner: format_percent(owner.share),
    }
    peak = f"{readable_bytes(row.peak_bytes)} at the peak, in step {row.step}"
    return _folded(f"Memory of {row.device} besides variables: {peak}", row.owners, columns)


def _hooks(hooks: Sequence[contents.HookRow], step_ms: float) -> Markup:
    """Cost of each hook, in the recorded steps and over the run; the first row is their sum.

    The bars are parts of the step, so that hooks of microseconds have no long bars.
    """
    if not hooks:
        return Markup()
    ms, share = sum(hook.ms for hook in hooks), sum(hook.share for hook in hooks)
    run_ms = sum(hook.run_ms or 0.0 for hook in hooks)
    total = contents.HookRow("all hooks", HOOK, ms, share, run_ms, None, None, None)
    columns: Columns = {
        "hook": lambda row: _bar(row.name, row.ms, step_ms, _COLORS[row.kind]),
        "per step": lambda row: format_ms(row.ms),
        "share": lambda row: format_percent(row.share),
        "per step, whole run": lambda row: "" if row.run_ms is None else format_ms(row.run_ms),
        "calls": lambda row: "" if row.calls is None else f"{row.calls:,}",
        "every steps": lambda row: "" if row.every_steps is None else format_count(row.every_steps),
    }
    return _folded("Hooks", [total, *hooks], columns)


def _costs(costs: Sequence[contents.ScopeRow]) -> Markup:
    """Parameters and floating-point operations of each scope."""
    largest = max((cost.flops or 0 for cost in costs), default=0)
    columns: Columns = {
        "scope": lambda row: _bar(row.scope or WHOLE_MODEL, row.flops or 0, largest, "c2"),
        "parameters": lambda row: f"{row.parameters:,}",
        "FLOPs": lambda row: "" if row.flops is None else format_count(row.flops),
        "per step": lambda row: format_ms(row.ms),
        "share": lambda row: format_percent(row.share),
        "GFLOP/s": _rate,
    }
    return _folded(COSTS, costs, columns)


def _rate(row: contents.Row | contents.ScopeRow) -> str:
    return "" if row.gflops_per_sec is None else f"{row.gflops_per_sec:.1f}"


def _bar(name: str, value: float, longest: float, color: str) -> Markup:
    """A name, which may break after its slashes on a narrow screen, above a bar."""
    breakable = Markup("/<wbr/>").join(name.split("/"))
    return _WIDE.format(breakable, charts.bar(value, longest, color, title=name))
