"""Aligns the records of all tasks of a profile to the clock of the chief.

    run = align(read_run(find_folder("runs/first")), step=100)
    run.ops[Device("ps_0", "CPU:0")]

The record of a task also has the operations that it caused on devices of other tasks, such as
parameter servers; the aligned run has each operation once.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tf_frame.errors import ConfigError
from tf_frame.profiling import xplane
from tf_frame.profiling.profile_folders import ProfileFolder, read_steps, task_name
from tf_frame.profiling.step_profile import Span, Step, StepProfile
from tf_frame.text import listed

_TASK = re.compile(r"/job:(?P<job>[^/]+)/(?:replica:\d+/)?task:(?P<index>\d+)/")
_LOCAL = "localhost"
_Window = tuple[int, int] | None


class Device(NamedTuple):
    """A device of a task, such as `worker_0` and `CPU:0`."""

    task: str
    name: str


class AlignedOp(NamedTuple):
    """An execution of an operation; `step` is the global step of its task."""

    begin: int
    end: int
    name: str
    type: str
    step: int


@dataclasses.dataclass(frozen=True)
class Run:
    """Records of the tasks of a run.

    Attributes:
      profiles: records of the tasks that recorded steps.
      captures: task -> its threads, for tasks without recorded steps.
    """

    profiles: Sequence[StepProfile]
    captures: Mapping[str, Sequence[xplane.Line]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class AlignedRun:
    """Records of the tasks of a run by the clock of the chief.

    Attributes:
      steps: task -> its recorded steps, with their operations in `ops`.
      ops: device -> its operations, by rising begin.
      captures: task -> its threads, for tasks without other records.
    """

    steps: Mapping[str, Sequence[Step]]
    ops: Mapping[Device, Sequence[AlignedOp]]
    captures: Mapping[str, Sequence[xplane.Line]]

    @property
    def tasks(self) -> list[str]:
        """The chief first, parameter servers last."""
        tasks = {*self.steps, *self.captures, *(device.task for device in self.ops)}
        return sorted(tasks, key=_order)

    @property
    def begin(self) -> int:
        """Begin of the first event; 0 without any."""
        begins = [steps[0].begin for steps in self.steps.values() if steps]
        begins += [ops[0].begin for ops in self.ops.values()]
        begins += [line.events[0].begin for lines in self.captures.values() for line in lines]
        return min(begins, default=0)


def read_run(folder: ProfileFolder, *, keep_threadpool: bool = False) -> Run:
    """Reads a folder: recorded steps, and XPlane files of tasks without them (`xplane.read_lines`).

    Raises:
      DataError: an XPlane file is damaged, or all recorded steps are.
    """
    profiles = read_steps(folder.steps)
    recorded = {profile.task for profile in profiles}
    captures = {
        task_name(path): xplane.read_lines(path, keep_threadpool=keep_threadpool)
        for path in folder.xplanes
        if task_name(path) not in recorded
    }
    return Run(profiles, captures)


def align(run: Run, step: int | None = None) -> AlignedRun:
    """Brings the records of a run to one clock.

    With `step`, keeps records during this step of the chief, or of the first task with the step.

    Raises:
      ConfigError: no task recorded the step.
    """
    profiles = sorted(run.profiles, key=lambda profile: _order(profile.task))
    steps = {
        profile.task: [_shifted(step, profile.clock_offset) for step in profile.steps]
        for profile in profiles
    }
    window = _window(steps, step)
    offsets = _clock_offsets(profiles)
    ops = _ops_by_device(profiles, offsets, window)
    with_ops = {device.task for device in ops}
    return AlignedRun(
        steps={
            task: [step for step in task_steps if _overlaps(step.begin, step.end, window)]
            for task, task_steps in steps.items()
        },
        ops=ops,
        # The threads of a task would show its operations once more.
        captures={
            task: _shifted_lines(lines, offsets.get(task, 0), window)
            for task, lines in run.captures.items()
            if task not in with_ops
        },
    )


def _order(task: str) -> tuple[bool, bool, str, int]:
    """Sorts the chief first, parameter servers last, and `worker_2` before `worker_10`."""
    job, _, index = task.rpartition("_")
    return job == "ps", job not in ("chief", "master"), job, int(index) if index.isdigit() else 0


def _shifted(step: Step, offset: int) -> Step:
    spans = [
        Span(kind, name, begin + offset, end + offset) for kind, name, begin, end in step.spans
    ]
    return dataclasses.replace(
        step, begin=step.begin + offset, end=step.end + offset, spans=spans, ops=()
    )


def _window(steps: Mapping[str, Sequence[Step]], number: int | None) -> _Window:
    if number is None:
        return None
    recorded = [step for task_steps in steps.values() for step in task_steps]
    for step in recorded:
        if step.number == number:
            return step.begin, step.end
    numbers = sorted({step.number for step in recorded})
    raise ConfigError(
        f"no task recorded step {number}; recorded steps: {listed(map(str, numbers))}"
    )


def _overlaps(begin: int, end: int, window: _Window) -> bool:
    return window is None or (begin < window[1] and window[0] < end)


def _shifted_lines(lines: Sequence[xplane.Line], offset: int, window: _Window) -> list[xplane.Line]:
    """The threads with events in the window, by another clock."""
    shifted = []
    for line in lines:
        events = [
            event._replace(begin=event.begin + offset, end=event.end + offset)
            for event in line.events
            if _overlaps(event.begin + offset, event.end + offset, window)
        ]
        if events:
            shifted.append(line._replace(events=events))
    return shifted


def _clock_offsets(profiles: Sequence[StepProfile]) -> dict[str, int]:
    """Nanoseconds to add to the times of each task; a task's own measurement takes precedence."""
    measured = {task: offset for p in profiles for task, offset in p.peer_clock_offsets.items()}
    return measured | {profile.task: profile.clock_offset for profile in profiles}


def _ops_by_device(
    profiles: Sequence[StepProfile], offsets: Mapping[str, int], window: _Window
) -> dict[Device, list[AlignedOp]]:
    # The times of a device have the clock of its own machine, even if another task recorded them.
    # Several tasks may have recorded an operation.
    ops: dict[Device, dict[tuple[int, int, str], AlignedOp]] = collections.defaultdict(dict)
    for profile in profiles:
        devices = [_device(name, profile.task) for name in profile.devices]
        shifts = [offsets.get(device.task, 0) for device in devices]
        for step in profile.steps:
            for device, node, begin, end in step.ops:
                first, last = begin + shifts[device], end + shifts[device]
                if _overlaps(first, last, window):
                    name, kind = profile.nodes[node]
                    op = AlignedOp(first, last, name, kind, step.number)
                    ops[devices[device]].setdefault((first, last, name), op)
    return {device: sorted(by_key.values()) for device, by_key in ops.items()}


def _device(name: str, own_task: str) -> Device:
    match = _TASK.match(name)
    short = name.rpartition("/")[2].removeprefix("device:")
    if match is None or match["job"] == _LOCAL:
        return Device(own_task, short)
    return Device(f"{match['job']}_{match['index']}", short)
