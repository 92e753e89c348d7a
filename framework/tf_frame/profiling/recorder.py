"""Records steps with their operations, memory and hooks.

A step ends after the last hook:

    recorder = Recorder(times, facts)
    recorder.start(on_step)
    recorder.add(run_metadata)  # The metadata of the session run of a step.
    recorder.end_step(step, end_of_last_hook)
    profile = recorder.stop()
"""

from __future__ import annotations

import dataclasses
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf_frame.profiling.memory import memory_peaks
from tf_frame.profiling.process_profiler import CaptureError
from tf_frame.profiling.step_profile import (
    CHECKPOINT,
    HOOK,
    PROFILER,
    SESSION,
    SUMMARY,
    Cost,
    HookCost,
    Node,
    Op,
    Span,
    Step,
    StepProfile,
    Work,
)
from tf_frame.profiling.step_stats import read_executions
from tf_frame.profiling.step_times import StepTimes

_NANOS = 10**9


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts about a task and its graph.

    Attributes:
      task: such as `worker_0`.
      examples_per_step: examples of a step of this task; None if unknown.
      model: name of the model; empty if unknown.
      clone_scopes: name scopes of several clones.
      python_functions: finds the Python functions of the input.
      work: finds the work of nodes.
      peak_flops, peak_bytes, options: see `StepProfile`.
      costs: computes the static costs of the graph.
      clock_offsets: measures clocks; task -> nanoseconds to add for the clock of the chief.
    """

    task: str
    examples_per_step: int | None = None
    model: str = ""
    clone_scopes: Sequence[str] = ()
    python_functions: Callable[[], Sequence[str]] = tuple
    costs: Callable[[], Sequence[Cost]] = tuple
    clock_offsets: Callable[[], Mapping[str, int]] = dict
    work: Callable[[Sequence[Node]], Sequence[Work | None]] = lambda nodes: ()
    peak_flops: float | None = None
    peak_bytes: float | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Recorder:
    """Records consecutive steps of a training loop, by the times of its steps and hooks."""

    def __init__(self, times: StepTimes, facts: Facts) -> None:
        self._times = times
        self._facts = facts
        self._steps: list[Step] = []
        self._metadata: list[Any] = []
        self._pending: Any = None
        self._began: int | None = None

    def start(self, on_step: Callable[[int, float], None]) -> None:
        """Begins to record; calls `on_step` after each step, with its global step and its end.

        Raises:
          CaptureError: another recorder of the same loop is active.
        """
        if self._times.on_step is not None:
            raise CaptureError("another profile of this training records its steps")
        self._steps, self._metadata, self._began = [], [], None
        self._times.spans, self._times.on_step = [], on_step

    def add(self, run_metadata: Any) -> None:
        """Takes the run metadata of the present step."""
        self._pending = run_metadata

    def end_step(self, number: int, ended: float) -> None:
        """Ends a step; `ended` is the end of its last hook, by `time.monotonic`.

        A step without run metadata is not recorded.
        """
        since_epoch = time.time_ns() - time.monotonic_ns()
        spans = [
            _span(hook, int(begin * _NANOS) + since_epoch, int(end * _NANOS) + since_epoch)
            for hook, begin, end in self._times.spans or ()
        ]
        end = int(ended * _NANOS) + since_epoch
        began = self._began if self._began is not None else spans[0].begin
        if self._pending is not None:
            self._steps.append(Step(number, began, end, spans, (), ()))
            self._metadata.append(self._pending)
        self._pending, self._began, self._times.spans = None, end, []

    def stop(self) -> StepProfile | None:
        """Ends the recording.

        TensorFlow prepares the graph anew in the first step with run metadata, so this step is left
        out if there are more.

        Returns:
          The profile; None without any step.
        """
        self._times.spans = self._times.on_step = None
        first = 1 if len(self._steps) > 1 else 0
        steps, metadata = self._steps[first:], self._metadata[first:]
        if not steps:
            return None
        tables, offsets = _Tables(), dict(self._facts.clock_offsets())
        recorded = [
            _without_tracing(
                dataclasses.replace(
                    step, ops=tables.ops(run), memory=memory_peaks(run, tables.devices)
                )
            )
            for step, run in zip(steps, metadata, strict=True)
        ]
        return StepProfile(
            task=self._facts.task,
            host=socket.gethostname(),
            cores=len(os.sched_getaffinity(0)),
            devices=list(tables.devices),
            nodes=list(tables.nodes),
            steps=recorded,
            costs=self._facts.costs(),
            hooks=self._hook_costs(),
            examples_per_step=self._facts.examples_per_step,
            model=self._facts.model,
            clone_scopes=self._facts.clone_scopes,
            python_functions=self._facts.python_functions(),
            work=self._facts.work(list(tables.nodes)),
            peak_flops=self._facts.peak_flops,
            peak_bytes=self._facts.peak_bytes,
            options=self._facts.options,
            clock_offset=offsets.pop(self._facts.task, 0),
            peer_clock_offsets=offsets,
        )

    def _hook_costs(self) -> list[HookCost]:
        step_secs = self._times.table().get("p50_secs")
        return [
            HookCost(
                type(hook).__name__,
                hook_kind(hook),
                spent.calls,
                spent.secs,
                _every_steps(hook, step_secs),
                bool(getattr(hook, "asynchronous", False)),
                str(getattr(hook, "option", "")),
            )
            for hook, spent in self._times.hooks.items()
        ]


def hook_kind(hook: Any) -> str:
    """Returns the kind of a hook's spans by its class name: stock hooks have no attribute."""
    name = type(hook).__name__
    return CHECKPOINT if "Checkpoint" in name else SUMMARY if "Summary" in name else HOOK


def _span(hook: Any, begin: int, end: int) -> Span:
    if hook is None:
        return Span(SESSION, "", begin, end)
    return Span(hook_kind(hook), type(hook).__name__, begin, end)


def _without_tracing(step: Step) -> Step:
    """Attributes the end of a session call, which copies run metadata, to the profiler.

    Without run metadata a session call ends some microseconds after its last operation; with run
    metadata it took 5 to 60 ms longer for deeplab's 2400 operations.
    """
    spans: list[Span] = []
    for span in step.spans:
        last = max((op.end for op in step.ops if op.end <= span.end), default=span.end)
        if span.kind == SESSION and last > span.begin:
            spans += [span._replace(end=last), Span(HOOK, PROFILER, last, span.end)]
        else:
            spans.append(span)
    return dataclasses.replace(step, spans=spans)


def _every_steps(hook: Any, step_secs: float | None) -> float | None:
    """Steps between two calls of a hook by its cadence; 1 for a hook without one."""
    cadence = getattr(hook, "cadence", None)
    if cadence is None:
        return 1
    if cadence.every_steps:
        return float(cadence.every_steps)
    every_secs = getattr(cadence, "every_secs", None)
    return every_secs / step_secs if every_secs and step_secs else None


class _Tables:
    """Devices and nodes of run metadata, with their positions."""

    def __init__(self) -> None:
        self.devices: dict[str, int] = {}
        self.nodes: dict[Node, int] = {}

    def ops(self, run_metadata: Any) -> list[Op]:
        ops = []
        for device, executions in read_executions(run_metadata.step_stats).items():
            number = self.devices.setdefault(device, len(self.devices))
            for execution in executions:
                # The tensor of a transfer names its source.
                transfer = execution.transfer
                name = transfer.tensor if transfer else execution.name
                node = self.nodes.setdefault(Node(name, execution.type), len(self.nodes))
                ops.append(Op(number, node, execution.begin, execution.end))
        return sorted(ops, key=lambda op: op.begin)
