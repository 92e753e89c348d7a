"""The tables of a report's text; `tf-frame profile show --by` selects one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from tf_frame.profiling.report.contents import COMMUNICATION, INPUT, HookRow, Operation, Report, Row
from tf_frame.profiling.report.formats import COSTS, LAYERS, NO_CLONE, OUTSIDE, WHOLE_MODEL
from tf_frame.profiling.report.operation_tables import roll_up
from tf_frame.text import columns, readable_bytes

_NAME_WIDTH, _OPERATION_WIDTH, _TYPE_WIDTH = 48, 42, 22
# In a short table, a scope with a greater share is divided into the scopes inside.
_LARGE = 0.1
_BLOCKS = "▁▂▃▄▅▆▇█"
_Cells = Sequence[str]
# Types of oneDNN are the types that they replace, with this prefix.
_ONE_DNN = re.compile(r"^_Mkl(Native)?")


def bars(values: Sequence[float]) -> str:
    """Returns a small bar for each value, in proportion to the largest value; blank for 0."""
    highest = max(values, default=0)
    return "".join(
        _BLOCKS[round(value / highest * (len(_BLOCKS) - 1))] if value > 0 else " "
        for value in values
    )


def operations(report: Report, max_rows: int | None) -> str:
    """Operations by the wall time that they take."""
    head = ["SHARE", "MS", "CALLS", "GFLOP/S", "TYPE", "OPERATION"]
    cells = [
        [
            *_figures(row),
            _rate(row.gflops_per_sec),
            _ONE_DNN.sub("", row.type)[:_TYPE_WIDTH],
            row.name if max_rows is None else _short(_short_path(row), _OPERATION_WIDTH),
        ]
        for row in report.operations
    ]
    return _table("Operations that take longest", head, cells, max_rows, names=2)


def types(report: Report, max_rows: int | None) -> str:
    """Types of operations."""
    return _rows("Types of operations", "TYPE", report.types, max_rows)


def kinds(report: Report, max_rows: int | None) -> str:
    """Kinds of operations."""
    return _rows("Kinds of operations", "KIND", report.kinds, max_rows)


def layers(report: Report, max_rows: int | None) -> str:
    """Layers, forward and backward together; a short table adds small layers of a scope up."""
    rows = report.layers if max_rows is None else roll_up(report.layers, _LARGE)
    return _rows(LAYERS, "NAME SCOPE", rows, max_rows)


def clones(report: Report, max_rows: int | None) -> str:
    """Clones: the time until the last clone is done, divided into computing, idle and waiting."""
    head = ["SHARE", "MS", "COMPUTES MS", "IDLE MS", "WAITS AT END MS", "CLONE"]
    cells = [
        [
            *_figures(r)[:2],
            f"{r.active_ms:.2f}",
            f"{r.idle_ms:.2f}" if r.name else "-",
            f"{r.wait_ms:.2f}" if r.name else "-",
            r.name or NO_CLONE,
        ]
        for r in report.clones
    ]
    return _table("Clones", head, cells, max_rows)


def hooks(report: Report, max_rows: int | None) -> str:
    """Hooks in the recorded steps, and over the whole run; the last row is their sum."""
    head = ["SHARE", "MS/STEP", "MS/STEP, WHOLE RUN", "EVERY N STEPS", "HOOK"]
    cells = [
        [
            f"{row.share:.1%}",
            f"{row.ms:.2f}",
            "-" if row.run_ms is None else f"{row.run_ms:.2f}",
            "-" if row.every_steps is None else f"{row.every_steps:.0f}",
            row.name,
        ]
        for row in report.hooks
    ]
    return _table("Hooks", head, cells, max_rows, total=_all_hooks(report.hooks))


def _all_hooks(rows: Sequence[HookRow]) -> _Cells:
    share, ms = sum(row.share for row in rows), sum(row.ms for row in rows)
    run_ms = sum(row.run_ms or 0.0 for row in rows)
    return [f"{share:.1%}", f"{ms:.2f}", f"{run_ms:.2f}", "", "all hooks"]


def tasks(report: Report, max_rows: int | None) -> str:
    """Tasks of the job, if there are several."""
    head = ["MEDIAN MS", "P90 MS", "INPUT", "WAITS FOR OTHERS", "TASK", ""]
    cells = [
        [
            f"{row.median_ms:.1f}",
            f"{row.p90_ms:.1f}",
            f"{row.shares.get(INPUT, 0):.0%}",
            f"{row.shares.get(COMMUNICATION, 0):.0%}",
            row.task,
            "slower than the others" if row.straggler else "",
        ]
        for row in report.tasks
    ]
    return _table("Tasks", head, cells if len(cells) > 1 else [], max_rows, names=2)


def memory(report: Report, max_rows: int | None) -> str:
    """The peak of each device, and the operations that own it."""
    parts = []
    for row in report.memory:
        title = (
            f"Memory of {row.device} besides variables: {readable_bytes(row.peak_bytes)} at most"
        )
        cells = [[f"{o.share:.1%}", readable_bytes(o.bytes), _short(o.name)] for o in row.owners]
        parts.append(_table(title, ["SHARE", "BYTES", "OPERATION"], cells, max_rows) or title)
    return "\n\n".join(parts)


def costs(report: Report, max_rows: int | None) -> str:
    """Parameters and floating-point operations: the whole model and its outer scopes."""
    head = ["PARAMETERS", "GFLOP", "MS", "GFLOP/S", "NAME SCOPE"]
    cells = [
        [
            f"{row.parameters:,}",
            "-" if row.flops is None else f"{row.flops / 1e9:.3f}",
            f"{row.ms:.2f}",
            _rate(row.gflops_per_sec),
            _short(row.scope or WHOLE_MODEL),
        ]
        for row in report.costs
        if max_rows is None or row.scope.count("/") < 2
    ]
    return _table(COSTS, head, cells, max_rows)


def use(report: Report, max_rows: int | None) -> str:
    """Operations that run on each device at the same time, over the typical step."""
    head = ["BUSY", "CONCURRENT OPS", "OVER A TYPICAL STEP", "DEVICE"]
    cells = [
        [f"{row.busy_share:.0%}", f"{row.mean:.2f}", f"|{bars(row.timeline)}|", row.device]
        for row in report.use
    ]
    return _table(f"Devices in use ({report.cores} cores)", head, cells, max_rows, names=2)


def _rows(title: str, heading: str, rows: Sequence[Row], max_rows: int | None) -> str:
    names = [row.name or OUTSIDE for row in rows]
    cells = [
        [*_figures(row), name if max_rows is None else _short(name)]
        for row, name in zip(rows, names, strict=True)
    ]
    return _table(title, ["SHARE", "MS", "CALLS", heading], cells, max_rows)


def _table(
    title: str,
    head: _Cells,
    cells: Sequence[_Cells],
    max_rows: int | None,
    *,
    names: int = 1,
    total: _Cells | None = None,
) -> str:
    """A table below its title, empty without rows; the last `names` columns are texts."""
    if not cells:
        return ""
    first = cells if max_rows is None else cells[:max_rows]
    more = f" (first {len(first)} of {len(cells)})" if len(first) < len(cells) else ""
    rows = [head, *first, *([total] if total else [])]
    return f"{title}{more}\n{columns(rows, right=range(len(head) - names))}"


def _figures(row: Row) -> list[str]:
    return [f"{row.share:.1%}", f"{row.ms:.2f}", _count(row.count)]


def _count(count: float) -> str:
    """Whole numbers, but a few digits where an operation does not run in each step."""
    return f"{count:.0f}" if count >= 10 else f"{count:.3g}"


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1f}"


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
    "type": types,
    "layer": layers,
    "kind": kinds,
    "clone": clones,
    "hook": hooks,
}
