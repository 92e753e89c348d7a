"""Computes the share of each phase and operation in the wall time of the recorded steps."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence

from tf_frame.profiling.operation_names import layer_and_clone, plain_type, short_device
from tf_frame.profiling.report.contents import (
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
from tf_frame.profiling.report.operation_kinds import Priority, operation_kind, operation_priority
from tf_frame.profiling.report.time_attribution import Attribution, attribute_time
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, PROFILER, SUMMARY, StepProfile

_BINS = 10
# Nodes of TensorFlow's executor, which begins and ends a graph or a function with them.
_EXECUTOR_NODES = ("_SOURCE", "_SINK")
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
class AttributedSteps:
    """Steps of a task with their attributed wall time.

    Attributes:
      profile: the record.
      priorities: priorities of the operations of each step.
      attributions: attribution of each step, without the time of profiling's own hooks.
      walls: wall time of each step in ns, without the time of profiling's own hooks.
      profiler_ms: mean time of profiling's own hooks in a step.
    """

    profile: StepProfile
    priorities: Sequence[Sequence[Priority]]
    attributions: Sequence[Attribution]
    walls: Sequence[int]
    profiler_ms: float

    @property
    def mean_ms(self) -> float:
        """Mean wall time."""
        return statistics.fmean(self.walls) / _NS_PER_MS


def attribute_steps(profile: StepProfile) -> AttributedSteps:
    """Attributes the wall time of the recorded steps; at least one is needed."""
    profile = _without_executor(profile)
    # Many operations share a node and a device.
    by_node = functools.cache(
        lambda node, device: operation_priority(profile.nodes[node], profile.devices[device])
    )
    priorities = [[by_node(op.node, op.device) for op in step.ops] for step in profile.steps]
    attributions = [attribute_time(*pair) for pair in zip(profile.steps, priorities, strict=True)]
    profiler = [_remove_profilers(attribution.phases) for attribution in attributions]
    # A step of no time at all would divide by zero.
    walls = [max(1, sum(attribution.phases.values())) for attribution in attributions]
    return AttributedSteps(profile, priorities, attributions, walls, _mean_ms(profiler))


def _without_executor(profile: StepProfile) -> StepProfile:
    """Leaves out nodes that are no operations of the graph: their time belongs to the session."""
    left_out = {i for i, node in enumerate(profile.nodes) if node.name in _EXECUTOR_NODES}
    steps = [
        dataclasses.replace(step, ops=[op for op in step.ops if op.node not in left_out])
        for step in profile.steps
    ]
    return dataclasses.replace(profile, steps=steps)


def _remove_profilers(phases: dict[tuple[str, str], int]) -> int:
    """Removes the phases of profiling's own hooks; returns their time."""
    profilers = [phase for phase in phases if phase[1] == PROFILER]
    return sum(phases.pop(phase) for phase in profilers)


def _mean_ms(nanoseconds: Sequence[float]) -> float:
    return statistics.fmean(nanoseconds) / _NS_PER_MS


def step_times(steps: AttributedSteps) -> StepTimes:
    """Returns statistics of the steps' wall times."""
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


def phases(steps: AttributedSteps) -> tuple[Phase, ...]:
    """Returns the phases that take time in any step, the longest first."""
    names = {name for attribution in steps.attributions for name in attribution.phases}
    rows = [_phase(steps, *name) for name in names]
    return tuple(sorted(rows, key=lambda phase: (-phase.ms, phase.kind, phase.name)))


def _phase(steps: AttributedSteps, kind: str, name: str) -> Phase:
    ns = [attribution.phases.get((kind, name), 0) for attribution in steps.attributions]
    ms = _mean_ms(ns)
    return Phase(
        kind=kind,
        name=name,
        label=PHASE_LABELS[kind].format(name),
        ms=ms,
        share=ms / steps.mean_ms,
        ms_of_steps=tuple(time / _NS_PER_MS for time in ns),
    )


def operations(steps: AttributedSteps) -> list[Operation]:
    """Returns all operations that ran, once per device, the longest first."""
    count = len(steps.walls)
    wall: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * count)
    busy: Counter[tuple[int, int]] = Counter()
    calls: Counter[tuple[int, int]] = Counter()
    for number, step in enumerate(steps.profile.steps):
        for op, share in zip(step.ops, steps.attributions[number].shares, strict=True):
            key = op.node, op.device
            wall[key][number] += share / _NS_PER_MS
            busy[key] += op.end - op.begin
            calls[key] += 1
    rows = [
        _operation(steps, key, ms, busy[key] / count, calls[key] / count)
        for key, ms in wall.items()
    ]
    return sorted(rows, key=lambda operation: (-operation.ms, operation.name))


def _operation(
    steps: AttributedSteps,
    key: tuple[int, int],
    ms_of_steps: list[float],
    busy_ns: float,
    count: float,
) -> Operation:
    profile, ms = steps.profile, statistics.fmean(ms_of_steps)
    node = profile.nodes[key[0]]
    layer, clone = layer_and_clone(node.name, profile.clone_scopes)
    return Operation(
        name=node.name,
        ms=ms,
        share=ms / steps.mean_ms,
        count=count,
        busy_ms=busy_ns / _NS_PER_MS,
        gflops_per_sec=None,
        ms_of_steps=tuple(ms_of_steps),
        type=plain_type(node.type),
        kind=operation_kind(node),
        layer=layer,
        clone=clone,
        device=short_device(profile.devices[key[1]], profile.task),
    )
