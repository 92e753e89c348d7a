"""Tables of a report on devices: operations that run at the same time, and memory at its peak."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tf_frame.profiling.operation_names import short_device
from tf_frame.profiling.report.contents import MemoryRow, Owner, Use
from tf_frame.profiling.report.operation_kinds import Priority
from tf_frame.profiling.report.operation_tables import busy_ns
from tf_frame.profiling.report.step_phases import AttributedSteps
from tf_frame.profiling.step_profile import Memory, Op, Step

# Intervals of the typical step, for a picture.
_INTERVALS = 60


def device_use(steps: AttributedSteps) -> tuple[Use, ...]:
    """Returns how many operations each device computes at the same time, by order of devices."""
    ops_of_steps = [
        _ops_by_device(*pair) for pair in zip(steps.profile.steps, steps.priorities, strict=True)
    ]
    typical = steps.walls.index(statistics.median_low(steps.walls))
    devices = sorted({device for ops in ops_of_steps for device in ops})
    total = sum(steps.walls)
    step = steps.profile.steps[typical]
    return tuple(
        Use(
            device=short_device(steps.profile.devices[device], steps.profile.task),
            busy_share=sum(busy_ns(ops.get(device, [])) for ops in ops_of_steps) / total,
            mean=sum(op.end - op.begin for ops in ops_of_steps for op in ops.get(device, []))
            / total,
            step=step.number,
            timeline=_timeline(step, ops_of_steps[typical].get(device, [])),
        )
        for device in devices
    )


def _ops_by_device(step: Step, priorities: Sequence[Priority]) -> dict[int, list[Op]]:
    """Operations that compute; calls of functions do not count: their operations are recorded."""
    ops: dict[int, list[Op]] = defaultdict(list)
    for op, priority in zip(step.ops, priorities, strict=True):
        if priority < Priority.FUNCTION:
            ops[op.device].append(op)
    return ops


def _timeline(step: Step, ops: Iterable[Op]) -> tuple[float, ...]:
    """Mean number of operations in each of equally long intervals of a step."""
    width = max(1.0, (step.end - step.begin) / _INTERVALS)
    times = [0.0] * _INTERVALS
    for op in ops:
        begin, end = (
            min(max(time - step.begin, 0) / width, _INTERVALS) for time in (op.begin, op.end)
        )
        for interval in range(int(begin), min(int(end) + 1, _INTERVALS)):
            times[interval] += min(end, interval + 1) - max(begin, interval)
    return tuple(times)


def memory_rows(steps: AttributedSteps) -> tuple[MemoryRow, ...]:
    """Returns, for each device with records, the step with the largest peak; largest first."""
    largest: dict[int, tuple[Memory, int]] = {}
    for step in steps.profile.steps:
        for memory in step.memory:
            if memory.device not in largest or memory.peak > largest[memory.device][0].peak:
                largest[memory.device] = memory, step.number
    rows = [
        MemoryRow(
            device=short_device(steps.profile.devices[memory.device], steps.profile.task),
            step=number,
            peak_bytes=memory.peak,
            owners=tuple(
                Owner(owner.node, owner.bytes, owner.bytes / memory.peak) for owner in memory.owners
            ),
        )
        for memory, number in largest.values()
        if memory.peak
    ]
    return tuple(sorted(rows, key=lambda row: -row.peak_bytes))
