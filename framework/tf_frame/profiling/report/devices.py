"""Tables of a report on devices: operations that run at the same time, and memory at its peak."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tf_frame.profiling.report.figures import MemoryRow, Owner, Use
from tf_frame.profiling.report.kinds import Class
from tf_frame.profiling.report.rows import covered
from tf_frame.profiling.report.scopes import short_device
from tf_frame.profiling.report.step_phases import DividedSteps
from tf_frame.profiling.step_profile import Memory, Op, Step

# Parts of the typical step, for a picture.
_PARTS = 60


def use(steps: DividedSteps) -> tuple[Use, ...]:
    """Operations that compute on each device at the same time, by the order of the devices."""
    of_steps = [_by_device(*pair) for pair in zip(steps.profile.steps, steps.classes, strict=True)]
    median = statistics.median_low(steps.walls)
    typical = steps.walls.index(median)
    devices = sorted({device for of_step in of_steps for device in of_step})
    total = sum(steps.walls)
    step = steps.profile.steps[typical]
    return tuple(
        Use(
            device=short_device(steps.profile.devices[device], steps.profile.task),
            busy_share=sum(covered(of_step.get(device, [])) for of_step in of_steps) / total,
            mean=sum(op.end - op.begin for ops in of_steps for op in ops.get(device, [])) / total,
            step=step.number,
            timeline=_timeline(step, of_steps[typical].get(device, [])),
        )
        for device in devices
    )


def _by_device(step: Step, classes: Sequence[Class]) -> dict[int, list[Op]]:
    """Operations that compute, without calls of functions, whose operations are recorded too."""
    found: dict[int, list[Op]] = defaultdict(list)
    for op, of_class in zip(step.ops, classes, strict=True):
        if of_class < Class.FUNCTION:
            found[op.device].append(op)
    return found


def _timeline(step: Step, ops: Iterable[Op]) -> tuple[float, ...]:
    """Mean number of operations in each of equally long parts of a step."""
    width = max(1.0, (step.end - step.begin) / _PARTS)
    times = [0.0] * _PARTS
    for op in ops:
        begin, end = (min(max(time - step.begin, 0) / width, _PARTS) for time in (op.begin, op.end))
        for part in range(int(begin), min(int(end) + 1, _PARTS)):
            times[part] += min(end, part + 1) - max(begin, part)
    return tuple(times)


def memory(steps: DividedSteps) -> tuple[MemoryRow, ...]:
    """For each device with records, the step that needed most; the largest peak first."""
    largest: dict[int, tuple[Memory, int]] = {}
    for step in steps.profile.steps:
        for found in step.memory:
            if found.device not in largest or found.peak > largest[found.device][0].peak:
                largest[found.device] = found, step.number
    rows = [
        MemoryRow(
            device=short_device(steps.profile.devices[found.device], steps.profile.task),
            step=number,
            peak_bytes=found.peak,
            owners=tuple(
                Owner(owner.node, owner.bytes, owner.bytes / max(1, found.peak))
                for owner in found.owners
            ),
        )
        for found, number in largest.values()
        if found.peak
    ]
    return tuple(sorted(rows, key=lambda row: -row.peak_bytes))
