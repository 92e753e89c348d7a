"""The tables of a report's text; `tf-frame profile show --by` selects one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf_frame.profiling.report.contents import (
    COMMUNICATION,
    INPUT,
    Operation,
    Report,
    Row,
    ScopeRow,
)
from tf_frame.profiling.report.formats import COSTS, LAYERS, NO_CLONE, OUTSIDE, WHOLE_MODEL
from tf_frame.profiling.report.operation_tables import roll_up
from tf_frame.text import columns, readable_bytes
from tf_frame.text_width import terminal_width

_NAME_WIDTH, _OPERATION_WIDTH, _TYPE_WIDTH = 48, 42, 22
# Width of the other columns of the devices in use, and the least width of the bar.
_BESIDE_TIMELINE, _LEAST_TIMELINE = 42, 16
# In a short table, a scope with a greater share is divided into the scopes inside.
_LARGE = 0.1
_BLOCKS = "▁▂▃▄▅▆▇█"
# Title of a column -> its cell in a row.
_Columns = Mapping[str, Callable[[Any], str]]


_FIGURES: _Columns = {
    "SHARE": lambda row: f"{row.share:.1%}",
    "MS": lambda row: f"{row.ms:.2f}",
    "CALLS": lambda row: _count(row.count),
}


def bars(values: Sequence[float]) -> str:
    """Returns a small bar for each value, in proportion to the largest value; blank for 0."""
    highest = max(values, default=0)
    return "".join(
        _BLOCKS[round(value / highest * (len(_BLOCKS) - 1))] if value > 0 else " "
        for value in values
    )


def operations(report: Report, max_rows: int | None) -> str:
    """Operations by the wall time that they take."""
    table: _Columns = {
        **_FIGURES,
        "GFLOP/S": _rate,
        **_shares_of_peaks(report),
        "TYPE": lambda row: row.type[:_TYPE_WIDTH],
        "OPERATION": lambda row: (
            row.name if max_rows is None else _short(_short_path(row), _OPERATION_WIDTH)
        ),
    }
    return _table("Operations that take longest", report.operations, table, max_rows, texts=2)


def _shares_of_peaks(report: Report) -> _Columns:
    """Columns of the roofline, if the peaks of the machine are known."""
    if not any(row.bandwidth_share for row in report.operations):
        return {}
    return {
        "OF PEAK": lambda row: _share(row.peak_share),
        "OF BANDWIDTH": lambda row: _share(row.bandwidth_share),
    }


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def layers(report: Report, max_rows: int | None) -> str:
    """Layers, forward and backward together; a short table adds small layers of a scope up."""
    rows = report.layers if max_rows is None else roll_up(report.layers, _LARGE)
    return _rows(LAYERS, "NAME SCOPE", rows, max_rows)


def clones(report: Report, max_rows: int | None) -> str:
    """Clones: the time until the last clone is done, divided into computing, idle and waiting."""
    table: _Columns = {
        "SHARE": _FIGURES["SHARE"],
        "MS": _FIGURES["MS"],
        "COMPUTES MS": lambda row: f"{row.active_ms:.2f}",
        "IDLE MS": lambda row: f"{row.idle_ms:.2f}" if row.name else "-",
        "WAITS AT END MS": lambda row: f"{row.wait_ms:.2f}" if row.name else "-",
        "CLONE": lambda row: row.name or NO_CLONE,
    }
    return _table("Clones", report.clones, table, max_rows)


def hooks(report: Report, max_rows: int | None) -> str:
    """Hooks in the recorded steps, and over the whole run; the last row is their sum."""
    table: _Columns = {
        "SHARE": _FIGURES["SHARE"],
        "MS/STEP": _FIGURES["MS"],
        "MS/STEP, WHOLE RUN": lambda row: "-" if row.run_ms is None else f"{row.run_ms:.2f}",
        "EVERY N STEPS": lambda row: "-" if row.every_steps is None else f"{row.every_steps:.0f}",
        "HOOK": lambda row: row.name,
    }
    share, ms = sum(row.share for row in report.hooks), sum(row.ms for row in report.hooks)
    run_ms = sum(row.run_ms or 0.0 for row in report.hooks)
    total = [f"{share:.1%}", f"{ms:.2f}", f"{run_ms:.2f}", "", "all hooks"]
    return _table("Hooks", report.hooks, table, max_rows, total=total)


def tasks(report: Report, max_rows: int | None) -> str:
    """Tasks of the job, if there are several."""
    table: _Columns = {
        "MEDIAN MS": lambda row: f"{row.median_ms:.1f}",
        "P90 MS": lambda row: f"{row.p90_ms:.1f}",
        "INPUT": lambda row: f"{row.shares.get(INPUT, 0):.0%}",
        "WAITS FOR OTHERS": lambda row: f"{row.shares.get(COMMUNICATION, 0):.0%}",
        "TASK": lambda row: row.task,
        "": lambda row: "slower than the others" if row.straggler else "",
    }
    rows = report.tasks if len(report.tasks) > 1 else ()
    return _table("Tasks", rows, table, max_rows, texts=2)


def memory(report: Report, max_rows: int | None) -> str:
    """The peak of each device, and the operations that own it."""
    table: _Columns = {
        "SHARE": _FIGURES["SHARE"],
        "BYTES": lambda owner: readable_bytes(owner.bytes),
        "OPERATION": lambda owner: _short(owner.name),
    }
    parts = []
    for row in report.memory:
        peak = f"{readable_bytes(row.peak_bytes)} at most"
        title = f"Memory of {row.device} besides variables: {peak}"
        parts.append(_table(title, row.owners, table, max_rows) or title)
    return "\n\n".join(parts)


def costs(report: Report, max_rows: int | None) -> str:
    """Parameters and floating-point operations: the whole model and its outer scopes."""
    table: _Columns = {
        "PARAMETERS": lambda row: f"{row.parameters:,}",
        "GFLOP": lambda row: "-" if row.flops is None else f"{row.flops / 1e9:.3f}",
        "MS": _FIGURES["MS"],
        "GFLOP/S": _rate,
        "NAME SCOPE": lambda row: _short(row.scope or WHOLE_MODEL),
    }
    rows = [row for row in report.costs if max_rows is None or row.scope.count("/") < 2]
    return _table(COSTS, rows, table, max_rows)


def use(report: Report, max_rows: int | None) -> str:
    """Operations that run on each device at the same time, over the typical step."""
    table: _Columns = {
        "BUSY": lambda row: f"{row.busy_share:.0%}",
        "CONCURRENT OPS": lambda row: f"{row.mean:.2f}",
        "OVER A TYPICAL STEP": lambda row: f"|{bars(_fitted(row.timeline))}|",
        "DEVICE": lambda row: row.device,
    }
    title = f"Devices in use ({report.cores} cores)"
    return _table(title, report.use, table, max_rows, texts=2)


def _fitted(timeline: Sequence[float]) -> Sequence[float]:
    """Returns the largest values of as many parts of a step as have room in the terminal."""
    room = max(_LEAST_TIMELINE, terminal_width() - _BESIDE_TIMELINE)
    count = min(len(timeline), room)
    edges = [number * len(timeline) // count for number in range(count + 1)]
    return [max(timeline[begin:end]) for begin, end in itertools.pairwise(edges)]


def _rows(title: str, heading: str, rows: Sequence[Row], max_rows: int | None) -> str:
    def name(row: Row) -> str:
        return (row.name or OUTSIDE) if max_rows is None else _short(row.name or OUTSIDE)

    return _table(title, rows, {**_FIGURES, heading: name}, max_rows)


def _table(
    title: str,
    rows: Sequence[Any],
    table: _Columns,
    max_rows: int | None,
    *,
    texts: int = 1,
    total: Sequence[str] = (),
) -> str:
    """A table below its title, empty without rows; the last `texts` columns are texts."""
    if not rows:
        return ""
    first = rows[:max_rows]
    more = f" (first {len(first)} of {len(rows)})" if len(first) < len(rows) else ""
    cells = [list(table), *([cell(row) for cell in table.values()] for row in first)]
    cells += [list(total)] if total else []
    return f"{title}{more}\n{columns(cells, right=range(len(table) - texts))}"


def _count(count: float) -> str:
    """Whole numbers, but a few digits where an operation does not run in each step."""
    return f"{count:.0f}" if count >= 10 else f"{count:.3g}"


def _rate(row: Row | ScopeRow) -> str:
    return "-" if row.gflops_per_sec is None else f"{row.gflops_per_sec:.1f}"


def _short_path(operation: Operation) -> str:
    """The name without the scopes of its gradient, which the type shows, too."""
    layer, last = operation.layer, operation.name.rpartition("/")[2]
    is_gradient = "gradients" in operation.name.split("/")
    return f"{layer}/{last}" if is_gradient and layer else operation.name


def _short(name: str, width: int = _NAME_WIDTH) -> str:
    """The end of a name, which says most."""
    return name if len(name) <= width else f"...{name[3 - width :]}"


# Value of --by -> the table.
TABLES: Mapping[str, Callable[[Report, int | None], str]] = {
    "op": operations,
    "type": lambda report, most: _rows("Types of operations", "TYPE", report.types, most),
    "layer": layers,
    "kind": lambda report, most: _rows("Kinds of operations", "KIND", report.kinds, most),
    "clone": clones,
    "hook": hooks,
}
