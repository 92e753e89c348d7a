"""The recorded steps of a task with divided wall time: phases, and every operation of the graph."""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence

from tf_frame.profiling.report.figures import (
    COMMUNICATION,
    DEVICE,
    HOST,
    INPUT,
    LOOP,
    OVERHEAD,
    Bin,
    Operation,
    Phase,
    StepTimes,
)
from tf_frame.profiling.report.kinds import Class, class_of, kind_of
from tf_frame.profiling.report.scopes import place_of, short_device
from tf_frame.profiling.report.sweep import Division, divide
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, PROFILER, SUMMARY, StepProfile

_BINS = 10
# Where TensorFlow's executor begins and ends a graph or a function: work of the session.
_OF_EXECUTOR = ("_SOURCE", "_SINK")
_NS_PER_MS = 1e6
# Kind of a phase -> the phase in words.
PHASE_LABELS = {
    INPUT: "waiting for input",
    HOST: "computing on the CPU",
    DEVICE: "computing on the GPU",
    COMMUNICATION: "waiting for other tasks or devices",
    OVERHEAD: "session.run overhead (no operation runs)",
    LOOP: "other Python code",
    CHECKPOINT: "writing checkpoints ({})",
    SUMMARY: "writing summaries ({})",
    HOOK: "hook {}",
}


@dataclasses.dataclass(frozen=True)
class DividedSteps:
    """Steps of a task with divided wall time.

    Attributes:
      profile: the record.
      classes: of the operations of each step.
      divisions: of each step, without the time of profiling's own hooks.
      walls: wall time of each step in ns, without it.
      profiler_ms: mean time of these hooks in a step.
    """

    profile: StepProfile
    classes: Sequence[Sequence[Class]]
    divisions: Sequence[Division]
    walls: Sequence[int]
    profiler_ms: float

    @property
    def mean_ms(self) -> float:
        """Mean wall time."""
        return statistics.fmean(self.walls) / _NS_PER_MS


def divide_steps(profile: StepProfile) -> DividedSteps:
    """Divides the wall time of the recorded steps; at least one is needed."""
    profile = _without_executor(profile)
    by_node = _Classes(profile)
    classes = [[by_node[op.node, op.device] for op in step.ops] for step in profile.steps]
    divisions = [divide(*pair) for pair in zip(profile.steps, classes, strict=True)]
    own = [_without_profilers(division.phases) for division in divisions]
    # A step of no time at all would divide by zero.
    walls = [max(1, sum(division.phases.values())) for division in divisions]
    return DividedSteps(profile, classes, divisions, walls, _mean_ms(own))


def _without_executor(profile: StepProfile) -> StepProfile:
    """Leaves out what is no operation of the graph, so that its time is that of the session."""
    left_out = {i for i, node in enumerate(profile.nodes) if node.name in _OF_EXECUTOR}
    steps = [
        dataclasses.replace(step, ops=[op for op in step.ops if op.node not in left_out])
        for step in profile.steps
    ]
    return dataclasses.replace(profile, steps=steps)


class _Classes(dict[tuple[int, int], Class]):
    """(node, device) -> class, found when it is first asked for."""

    def __init__(self, profile: StepProfile) -> None:
        super().__init__()
        self._profile = profile

    def __missing__(self, key: tuple[int, int]) -> Class:
        node, device = key
        self[key] = class_of(self._profile.nodes[node], self._profile.devices[device])
        return self[key]


def _without_profilers(phases: dict[tuple[str, str], int]) -> int:
    """Removes the phases of profiling's own hooks; returns their time."""
    found = [phase for phase in phases if phase[1] == PROFILER]
    return sum(phases.pop(phase) for phase in found)


def _mean_ms(nanoseconds: Sequence[float]) -> float:
    return statistics.fmean(nanoseconds) / _NS_PER_MS


def step_times(steps: DividedSteps) -> StepTimes:
    """Statistics of the steps' wall times."""
    ms = [wall / _NS_PER_MS for wall in steps.walls]
    return StepTimes(
        ms_of_steps=tuple(ms),
        median_ms=statistics.median(ms),
        p90_ms=statistics.quantiles(ms, n=10, method="inclusive")[8] if len(ms) > 1 else ms[0],
        mean_ms=steps.mean_ms,
        jitter_ms=statistics.stdev(ms) if len(ms) > 1 else 0.0,
        histogram=_histogram(ms),
    )


def _histogram(ms: Sequence[float]) -> tuple[Bin, ...]:
    low, high = min(ms), max(ms)
    if low == high:
        return (Bin(low, high, len(ms)),)
    width = (high - low) / _BINS
    counts = Counter(min(int((value - low) / width), _BINS - 1) for value in ms)
    return tuple(Bin(low + i * width, low + (i + 1) * width, counts[i]) for i in range(_BINS))


def phases(steps: DividedSteps) -> tuple[Phase, ...]:
    """The phases that take time in any step, the longest first."""
    names = {name for division in steps.divisions for name in division.phases}
    found = [_phase(steps, *name) for name in names]
    return tuple(sorted(found, key=lambda phase: (-phase.ms, phase.kind, phase.name)))


def _phase(steps: DividedSteps, kind: str, name: str) -> Phase:
    ns = [division.phases.get((kind, name), 0) for division in steps.divisions]
    ms = _mean_ms(ns)
    return Phase(
        kind=kind,
        name=name,
        label=PHASE_LABELS[kind].format(name),
        ms=ms,
        share=ms / steps.mean_ms,
        ms_of_steps=tuple(each / _NS_PER_MS for each in ns),
    )


def operations(steps: DividedSteps) -> list[Operation]:
    """All operations that ran, each of them once per device, the longest first."""
    count = len(steps.walls)
    wall: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * count)
    busy: Counter[tuple[int, int]] = Counter()
    calls: Counter[tuple[int, int]] = Counter()
    for number, step in enumerate(steps.profile.steps):
        for op, share in zip(step.ops, steps.divisions[number].shares, strict=True):
            key = op.node, op.device
            wall[key][number] += share / _NS_PER_MS
            busy[key] += op.end - op.begin
            calls[key] += 1
    found = [
        _operation(steps, key, ms, busy[key] / count, calls[key] / count)
        for key, ms in wall.items()
    ]
    return sorted(found, key=lambda operation: (-operation.ms, operation.name))


def _operation(
    steps: DividedSteps, key: tuple[int, int], ms_of_steps: list[float], busy: float, count: float
) -> Operation:
    profile, ms = steps.profile, statistics.fmean(ms_of_steps)
    node = profile.nodes[key[0]]
    layer, clone = place_of(node.name, profile.clone_scopes)
    return Operation(
        name=node.name,
        ms=ms,
        share=ms / steps.mean_ms,
        count=count,
        busy_ms=busy / _NS_PER_MS,
        gflops_per_sec=None,
        ms_of_steps=tuple(ms_of_steps),
        type=node.type,
        kind=kind_of(node),
        layer=layer,
        clone=clone,
        device=short_device(profile.devices[key[1]], profile.task),
    )
