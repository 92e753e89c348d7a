"""Groups the operations of a report into rows: kinds, types, layers, clones, scopes."""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tf_frame.profiling.operation_names import enclosing_scopes, in_scope, layer_and_clone
from tf_frame.profiling.report.contents import CloneRow, Operation, Row, ScopeRow
from tf_frame.profiling.report.operation_kinds import (
    COMMUNICATION,
    CONVOLUTION,
    INPUT,
    MATMUL,
    Priority,
)
from tf_frame.profiling.report.step_phases import AttributedSteps
from tf_frame.profiling.step_profile import Cost, Op, Step, StepProfile

_NS_PER_MS = 1e6
# A layer has one operation forward, and two backward: by its input and by its weights.
_OPS_OF_LAYER = 3
_BACKWARD = re.compile(r"(Native)?Backprop\w*|Native$|^_?(Fused)?")
_Row = TypeVar("_Row", bound=Row)


def group_rows(operations: Sequence[Operation], key: Callable[[Operation], str]) -> tuple[Row, ...]:
    """Returns a row for each value of `key`, the longest first."""
    return _sorted(_sum(name, group) for name, group in _groups(operations, key).items())


def _groups(rows: Iterable[_Row], key: Callable[[_Row], str]) -> dict[str, list[_Row]]:
    groups: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.ms, row.name)))


def _sum(name: str, group: Sequence[Row]) -> Row:
    return Row(
        name=name,
        ms=sum(row.ms for row in group),
        share=sum(row.share for row in group),
        count=sum(row.count for row in group),
        busy_ms=sum(row.busy_ms for row in group),
        gflops_per_sec=None,
        ms_of_steps=tuple(map(sum, zip(*(row.ms_of_steps for row in group), strict=True))),
    )


def layer_rows(operations: Sequence[Operation], costs: Sequence[Cost]) -> tuple[Row, ...]:
    """Returns a row for each layer; layers without inner layers have a rate of operations."""
    rows = group_rows(operations, lambda operation: operation.layer)
    flops = {cost.scope: cost.flops for cost in costs}
    outer = {scope for row in rows for scope in enclosing_scopes(row.name)[:-1]}
    return tuple(
        row
        if row.name in outer or not row.name
        else dataclasses.replace(row, gflops_per_sec=_rate(flops.get(row.name), row.ms))
        for row in rows
    )


def roll_up(layers: Sequence[Row], largest: float, depth: int = 1) -> tuple[Row, ...]:
    """Adds layers up to their outer scopes of a depth, the longest first.

    A scope with a greater share than `largest` is divided into the scopes inside.
    """
    rows: list[Row] = []
    groups = _groups(layers, lambda row: "/".join(row.name.split("/")[:depth]))
    for name, inner in groups.items():
        if len(inner) == 1:
            rows += inner
        elif sum(row.share for row in inner) > largest:
            rows += roll_up(inner, largest, depth + 1)
        else:
            rows.append(_sum(name, inner))
    return _sorted(rows)


def _rate(flops: float | None, ms: float) -> float | None:
    """Billions of floating-point operations per second."""
    return flops / ms / 1e6 if flops and ms > 0 else None


def add_flops(operations: Sequence[Operation], costs: Sequence[Cost]) -> list[Operation]:
    """Adds rates of floating-point operations to convolutions and matrix products, where known.

    Costs are known for layers. If a layer consists of one such operation, its backward operations
    compute as many products; other layers are left out.
    """
    flops = {cost.scope: cost.flops for cost in costs if cost.scope}
    products = [row for row in operations if row.kind in (CONVOLUTION, MATMUL)]
    rates: dict[int, float | None] = {}
    for layer, group in _groups(products, lambda row: row.layer).items():
        clones = len({row.clone for row in group})
        alike = len({_BACKWARD.sub("", row.type) for row in group}) == 1
        layer_flops = flops.get(layer)
        if layer_flops and alike and len(group) <= _OPS_OF_LAYER * clones:
            rates.update({id(row): _rate(layer_flops / len(group), row.ms) for row in group})
    return [
        dataclasses.replace(row, gflops_per_sec=rates[id(row)]) if id(row) in rates else row
        for row in operations
    ]


def add_work(operations: Sequence[Operation], profile: StepProfile) -> list[Operation]:
    """Adds rates and shares of the peaks to the operations of known work."""
    work = dict(zip((node.name for node in profile.nodes), profile.work, strict=False))

    def with_work(row: Operation) -> Operation:
        done = work.get(row.name)
        if done is None or not row.ms:
            return row
        rate = _rate(done.flops * row.count, row.ms)
        return dataclasses.replace(
            row,
            gflops_per_sec=rate if row.kind in (CONVOLUTION, MATMUL) else row.gflops_per_sec,
            peak_share=rate * 1e9 / profile.peak_flops if rate and profile.peak_flops else None,
            bandwidth_share=done.bytes * row.count / row.ms * 1e3 / profile.peak_bytes
            if profile.peak_bytes
            else None,
        )

    return list(map(with_work, operations))


def scope_rows(
    operations: Sequence[Operation], costs: Sequence[Cost], mean_ms: float
) -> tuple[ScopeRow, ...]:
    """Returns static costs with the times of their scopes, without waiting."""
    computing = [row for row in operations if row.kind not in (INPUT, COMMUNICATION)]
    layers = group_rows(computing, lambda operation: operation.layer)

    def scope_row(cost: Cost) -> ScopeRow:
        ms = sum(layer.ms for layer in layers if in_scope(layer.name, cost.scope))
        rate = _rate(cost.flops, ms)
        return ScopeRow(cost.scope, cost.parameters, cost.flops, ms, ms / mean_ms, rate)

    return tuple(map(scope_row, costs))


def clone_rows(operations: Sequence[Operation], steps: AttributedSteps) -> tuple[CloneRow, ...]:
    """Returns a row for each of several clones, and one for operations of no clone."""
    profile = steps.profile
    if not profile.clone_scopes:
        return ()
    clones = [layer_and_clone(node.name, profile.clone_scopes)[1] for node in profile.nodes]
    spans = [
        _clone_spans(step, clones, priorities)
        for step, priorities in zip(profile.steps, steps.priorities, strict=True)
    ]
    return tuple(
        CloneRow(**row_fields(row), active_ms=active, idle_ms=idle, wait_ms=wait)
        for row in group_rows(operations, lambda operation: operation.clone)
        for active, idle, wait in [_mean_clone_times(row.name, spans)]
    )


def row_fields(row: Row) -> dict[str, Any]:
    """Returns the fields of every row, to make a row with more fields."""
    return {field.name: getattr(row, field.name) for field in dataclasses.fields(Row)}


def _clone_spans(
    step: Step, clones: Sequence[str], priorities: Sequence[Priority]
) -> dict[str, tuple[int, int, int]]:
    """Clone -> the time that it computes, its first begin and its last end, in ns."""
    computing: dict[str, list[Op]] = defaultdict(list)
    for op, priority in zip(step.ops, priorities, strict=True):
        if priority <= Priority.FUNCTION:
            computing[clones[op.node]].append(op)
    return {
        clone: (busy_ns(ops), min(op.begin for op in ops), max(op.end for op in ops))
        for clone, ops in computing.items()
    }


def busy_ns(ops: Sequence[Op]) -> int:
    """Returns the time that at least one operation runs, in ns."""
    total = reached = 0
    for op in sorted(ops, key=lambda op: op.begin):
        total += max(0, op.end - max(op.begin, reached))
        reached = max(reached, op.end)
    return total


def _mean_clone_times(clone: str, spans: Sequence[dict[str, tuple[int, int, int]]]) -> list[float]:
    """Mean times in ms: computing, idle from the first begin of any clone, until its last end."""
    times = [_clone_times(clone, step_spans) for step_spans in spans if clone in step_spans]
    return [statistics.fmean(ns) / _NS_PER_MS for ns in zip(*times or [(0, 0, 0)], strict=True)]


def _clone_times(clone: str, spans: dict[str, tuple[int, int, int]]) -> tuple[int, int, int]:
    active, _, ended = spans[clone]
    if not clone:
        return active, 0, 0
    begin = min(begin for name, (_, begin, _) in spans.items() if name)
    last = max(end for name, (_, _, end) in spans.items() if name)
    return active, ended - begin - active, last - ended
