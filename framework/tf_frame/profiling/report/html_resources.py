"""Sections of the HTML page on clones, tasks, memory, hooks and the cost of scopes.

Each takes a report, and is empty if that has no such figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame.profiling.report import html_charts as charts
from tf_frame.profiling.report.figure_texts import (
    COSTS,
    NO_CLONE,
    WHOLE_MODEL,
    count_text,
    ms_text,
    percent_text,
)
from tf_frame.profiling.report.figures import CloneRow, MemoryRow, Report, TaskRow
from tf_frame.profiling.report.html_elements import Markup, element, join, table
from tf_frame.profiling.report.html_parts import COLORS, folded, section, with_bar
from tf_frame.profiling.step_profile import HOOK
from tf_frame.text import readable_bytes


def clones_and_tasks(report: Report) -> Markup:
    """A row for each clone and each task, if there are several."""
    return join(
        [
            _clones(report.clones) if sum(bool(each.name) for each in report.clones) > 1 else "",
            _tasks(report.tasks) if len(report.tasks) > 1 else "",
        ]
    )


def _clones(clones: Sequence[CloneRow]) -> Markup:
    most = max(clone.active_ms for clone in clones)
    cells = [
        (
            with_bar(clone.name or NO_CLONE, clone.active_ms, most, "c0"),
            ms_text(clone.active_ms),
            ms_text(clone.idle_ms) if clone.name else "",
            ms_text(clone.wait_ms) if clone.name else "",
            percent_text(clone.share),
        )
        for clone in clones
    ]
    heading = ("clone", "computes", "idle", "waits at end", "share of the step")
    return section("Clones", table(heading, cells, right=(1, 2, 3, 4)))


def _tasks(tasks: Sequence[TaskRow]) -> Markup:
    heading = ("task", "phases", "median", "p90", "steps")
    return section("Tasks", table(heading, [_task(task) for task in tasks], right=(2, 3, 4)))


def _task(task: TaskRow) -> tuple[str, ...]:
    parts = [
        charts.Part(kind.replace("_", " "), share, percent_text(share), COLORS[kind])
        for kind, share in task.shares.items()
    ]
    slower = element("div", "slower than the others", class_="alarm") if task.straggler else ""
    name = join([task.task, element("small", f" on {task.host}"), slower])
    bar = element("div", charts.stacked_bar(f"Phases of {task.task}", parts), class_="wide")
    return name, bar, ms_text(task.median_ms), ms_text(task.p90_ms), str(task.steps)


def memory(report: Report) -> Markup:
    """Owners of the memory at the peak, for each device."""
    return join(_memory(row) for row in report.memory)


def _memory(row: MemoryRow) -> Markup:
    most = max((owner.bytes for owner in row.owners), default=0)
    cells = [
        (with_bar(o.name, o.bytes, most, "c3"), readable_bytes(o.bytes), percent_text(o.share))
        for o in row.owners
    ]
    peak = f"{readable_bytes(row.peak_bytes)} at the peak, in step {row.step}"
    title = f"Memory of {row.device} beside variables: {peak}"
    return folded(title, ("owner", "bytes", "of the peak"), cells, right=(1, 2))


def hooks(report: Report) -> Markup:
    """Cost of each hook, in the recorded steps and over the run."""
    # Beside the step, so that hooks of microseconds have no long bars.
    most = report.step.mean_ms
    cells: list[tuple[str, ...]] = [
        (
            with_bar(hook.name, hook.ms, most, COLORS[hook.kind]),
            ms_text(hook.ms),
            percent_text(hook.share),
            "" if hook.run_ms is None else ms_text(hook.run_ms),
            "" if hook.calls is None else f"{hook.calls:,}",
            "" if hook.every_steps is None else count_text(hook.every_steps),
        )
        for hook in report.hooks
    ]
    if cells:
        ms, share = sum(h.ms for h in report.hooks), sum(h.share for h in report.hooks)
        run_ms = sum(h.run_ms or 0.0 for h in report.hooks)
        total = with_bar("all hooks", ms, most, COLORS[HOOK])
        cells.insert(0, (total, ms_text(ms), percent_text(share), ms_text(run_ms), "", ""))
    heading = ("hook", "per step", "share", "per step, whole run", "calls", "every steps")
    return folded("Hooks", heading, cells, right=(1, 2, 3, 4, 5))


def costs(report: Report) -> Markup:
    """Parameters and floating-point operations of each scope."""
    most = max((cost.flops or 0 for cost in report.costs), default=0)
    cells = [
        (
            with_bar(cost.scope or WHOLE_MODEL, cost.flops or 0, most, "c2"),
            f"{cost.parameters:,}",
            "" if cost.flops is None else count_text(cost.flops),
            ms_text(cost.ms),
            percent_text(cost.share),
            "" if cost.gflops_per_sec is None else f"{cost.gflops_per_sec:.1f}",
        )
        for cost in report.costs
    ]
    heading = ("scope", "parameters", "FLOPs", "per step", "share", "GFLOP/s")
    return folded(COSTS, heading, cells, right=(1, 2, 3, 4, 5))
