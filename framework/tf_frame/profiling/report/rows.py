"""Tables of a report whose rows are groups of operations: kinds, types, layers, clones, scopes."""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from tf_frame.profiling.layer_names import in_scope
from tf_frame.profiling.report.figures import CloneRow, Operation, Row, ScopeRow
from tf_frame.profiling.report.kinds import COMMUNICATION, CONVOLUTION, INPUT, MATMUL, Class
from tf_frame.profiling.report.scopes import place_of
from tf_frame.profiling.report.step_phases import DividedSteps
from tf_frame.profiling.step_profile import Cost, Op, Step

_NS_PER_MS = 1e6
# A layer has one operation forward, and two backward: by its input and by its weights.
_OPS_OF_LAYER = 3
_BACKWARD = re.compile(r"(Native)?Backprop\w*|Native$|^_?(Mkl)?(Native)?(Fused)?")


def grouped(operations: Sequence[Operation], key: Callable[[Operation], str]) -> tuple[Row, ...]:
    """A row for each value of `key`, the longest first."""
    groups: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        groups[key(operation)].append(operation)
    rows = [_sum(name, group) for name, group in groups.items()]
    return tuple(sorted(rows, key=lambda row: (-row.ms, row.name)))


def _sum(name: str, group: Sequence[Row]) -> Row:
    return Row(
        name=name,
        ms=sum(each.ms for each in group),
        share=sum(each.share for each in group),
        count=sum(each.count for each in group),
        busy_ms=sum(each.busy_ms for each in group),
        gflops_per_sec=None,
        ms_of_steps=tuple(map(sum, zip(*(each.ms_of_steps for each in group), strict=True))),
    )


def layers(operations: Sequence[Operation], costs: Sequence[Cost]) -> tuple[Row, ...]:
    """A row for each layer; those without layers inside have floating-point operations/s."""
    rows = grouped(operations, lambda operation: operation.layer)
    flops = {cost.scope: cost.flops for cost in costs}
    outer = {row.name[:place] for row in rows for place in _slashes(row.name)}
    return tuple(
        row
        if row.name in outer or not row.name
        else dataclasses.replace(row, gflops_per_sec=_rate(flops.get(row.name), row.ms))
        for row in rows
    )


def rolled_up(layer_rows: Sequence[Row], largest: float, depth: int = 1) -> tuple[Row, ...]:
    """Adds layers up to outer scopes, the longest first.

    Args:
      layer_rows: of the layers.
      largest: share above which the scopes inside a scope keep rows of their own.
      depth: of the outermost scopes.
    """
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in layer_rows:
        groups["/".join(row.name.split("/")[:depth])].append(row)
    rows: list[Row] = []
    for name, own in groups.items():
        if len(own) == 1:
            rows += own
        elif sum(row.share for row in own) > largest:
            rows += rolled_up(own, largest, depth + 1)
        else:
            rows.append(_sum(name, own))
    return tuple(sorted(rows, key=lambda row: (-row.ms, row.name)))


def _slashes(name: str) -> list[int]:
    return [place for place, letter in enumerate(name) if letter == "/"]


def _rate(flops: float | None, ms: float) -> float | None:
    """Billions of floating-point operations per second."""
    return flops / ms / 1e6 if flops and ms > 0 else None


def with_flops(operations: Sequence[Operation], costs: Sequence[Cost]) -> list[Operation]:
    """Adds floating-point operations/s to convolutions and matrix products, where they are known.

    Costs are known for layers. Where a layer consists of one such operation, its backward
    operations compute as many products each; other layers are left out.
    """
    flops = {cost.scope: cost.flops for cost in costs if cost.scope}
    of_layer: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.kind in (CONVOLUTION, MATMUL):
            of_layer[operation.layer].append(operation)
    rate: dict[int, float | None] = {}
    for layer, group in of_layer.items():
        clones = len({each.clone for each in group})
        alike = len({_BACKWARD.sub("", each.type) for each in group}) == 1
        if flops.get(layer) and alike and len(group) <= _OPS_OF_LAYER * clones:
            each_flops = (flops[layer] or 0) / len(group)
            rate.update({id(each): _rate(each_flops, each.ms) for each in group})
    return [
        dataclasses.replace(each, gflops_per_sec=rate[id(each)]) if id(each) in rate else each
        for each in operations
    ]


def scopes(
    operations: Sequence[Operation], costs: Sequence[Cost], mean_ms: float
) -> tuple[ScopeRow, ...]:
    """Static costs with the times of their scopes, those inside included; waiting is no cost."""
    computing = [each for each in operations if each.kind not in (INPUT, COMMUNICATION)]
    layer_rows = grouped(computing, lambda operation: operation.layer)

    def row(cost: Cost) -> ScopeRow:
        ms = sum(each.ms for each in layer_rows if in_scope(each.name, cost.scope))
        rate = _rate(cost.flops, ms)
        return ScopeRow(cost.scope, cost.parameters, cost.flops, ms, ms / mean_ms, rate)

    return tuple(map(row, costs))


def clones(operations: Sequence[Operation], steps: DividedSteps) -> tuple[CloneRow, ...]:
    """A row for each clone, and one for the operations of none; empty for a single clone."""
    profile = steps.profile
    if not profile.clone_scopes:
        return ()
    clone_of = [place_of(node.name, profile.clone_scopes)[1] for node in profile.nodes]
    spans = [
        _spans_of_clones(step, clone_of, classes)
        for step, classes in zip(profile.steps, steps.classes, strict=True)
    ]
    return tuple(
        CloneRow(**fields_of(row), active_ms=active, idle_ms=idle, wait_ms=wait)
        for row in grouped(operations, lambda operation: operation.clone)
        for active, idle, wait in [_mean_of_clone(row.name, spans)]
    )


def fields_of(row: Row) -> dict[str, Any]:
    """The fields that every row has, for a row with more of them."""
    return {field.name: getattr(row, field.name) for field in dataclasses.fields(Row)}


def _spans_of_clones(
    step: Step, clone_of: Sequence[str], classes: Sequence[Class]
) -> dict[str, tuple[int, int, int]]:
    """Clone -> time in which it computes, its first begin and its last end, in ns."""
    computing: dict[str, list[Op]] = defaultdict(list)
    for op, of_class in zip(step.ops, classes, strict=True):
        if of_class <= Class.FUNCTION:
            computing[clone_of[op.node]].append(op)
    return {
        clone: (covered(ops), min(op.begin for op in ops), max(op.end for op in ops))
        for clone, ops in computing.items()
    }


def covered(ops: Sequence[Op]) -> int:
    """Time in which at least one operation runs, in ns."""
    total = reached = 0
    for op in sorted(ops, key=lambda op: op.begin):
        total += max(0, op.end - max(op.begin, reached))
        reached = max(reached, op.end)
    return total


def _mean_of_clone(clone: str, spans: Sequence[dict[str, tuple[int, int, int]]]) -> list[float]:
    """Mean times in ms: computing, idle from the first begin of any clone, until its last end."""
    times = [_of_clone(clone, of_step) for of_step in spans if clone in of_step]
    return [statistics.fmean(each) / _NS_PER_MS for each in zip(*times or [(0, 0, 0)], strict=True)]


def _of_clone(clone: str, spans: dict[str, tuple[int, int, int]]) -> tuple[int, int, int]:
    active, _, ended = spans[clone]
    if not clone:
        return active, 0, 0
    begin = min(begin for name, (_, begin, _) in spans.items() if name)
    last = max(end for name, (_, _, end) in spans.items() if name)
    return active, ended - begin - active, last - ended
