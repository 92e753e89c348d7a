"""Records of all tasks of a profile, by the clock of the chief, and each operation once.

    run = align(read_run(find("runs/first")), step=100)
    run.ops[Device("ps_0", "CPU:0")]

The record of a task of a cluster also has the operations that it caused on devices of other
tasks, such as parameter servers.
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

_OF_TASK = re.compile(r"/job:(?P<job>[^/]+)/(?:replica:\d+/)?task:(?P<index>\d+)/")
_LOCAL = "localhost"
_Window = tuple[int, int] | None


class Device(NamedTuple):
    """A device of a task, such as `worker_0` and `CPU:0`."""

    task: str
    name: str


class AlignedOp(NamedTuple):
    """An execution of an operation; `step` is the global step of the task that caused it."""

    begin: int
    end: int
    name: str
    type: str
    step: int


@dataclasses.dataclass(frozen=True)
class Run:
    """Records of the tasks of a run.

    Attributes:
      profiles: of the tasks that recorded steps.
      captures: threads of the other tasks, by task.
    """

    profiles: Sequence[StepProfile]
    captures: Mapping[str, Sequence[xplane.Line]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class AlignedRun:
    """The same by the clock of the chief.

    Attributes:
      steps: of each task that recorded some; their operations are in `ops`.
      ops: of each device, by rising begin.
      captures: threads of the tasks of which there is nothing else.
    """

    steps: Mapping[str, Sequence[Step]]
    ops: Mapping[Device, Sequence[AlignedOp]]
    captures: Mapping[str, Sequence[xplane.Line]]

    @property
    def tasks(self) -> list[str]:
        """The chief first, parameter servers last."""
        found = {*self.steps, *self.captures, *(device.task for device in self.ops)}
        return sorted(found, key=_order)

    @property
    def begin(self) -> int:
        """Begin of the first event; 0 without any."""
        begins = [steps[0].begin for steps in self.steps.values() if steps]
        begins += [ops[0].begin for ops in self.ops.values()]
        begins += [line.events[0].begin for lines in self.captures.values() for line in lines]
        return min(begins, default=0)


def read_run(folder: ProfileFolder, *, keep_threadpool: bool = False) -> Run:
    """Reads a folder: recorded steps, and XPlane files of tasks without them.

    Args:
      folder: the folder.
      keep_threadpool: also events of Eigen's thread pools.

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

    Args:
      run: the records.
      step: only what overlaps with this step of the chief, or of the first task that has it.

    Raises:
      ConfigError: no task recorded the step.
    """
    profiles = sorted(run.profiles, key=lambda profile: _order(profile.task))
    steps = {
        profile.task: [_shifted(each, profile.clock_offset) for each in profile.steps]
        for profile in profiles
    }
    window = _window(steps, step)
    offsets = _clock_offsets(profiles)
    ops = _ops_by_device(profiles, offsets, window)
    known = {device.task for device in ops}
    return AlignedRun(
        steps={
            task: [each for each in found if _overlaps(each.begin, each.end, window)]
            for task, found in steps.items()
        },
        ops=ops,
        # Of a task whose operations are known, threads would show these once more.
        captures={
            task: _within(_moved(lines, offsets.get(task, 0)), window)
            for task, lines in run.captures.items()
            if task not in known
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
    recorded = [step for found in steps.values() for step in found]
    for step in recorded:
        if step.number == number:
            return step.begin, step.end
    known = sorted({step.number for step in recorded})
    raise ConfigError(
        f"no task recorded step {number}; recorded steps: {', '.join(map(str, known)) or 'none'}"
    )


def _overlaps(begin: int, end: int, window: _Window) -> bool:
    return window is None or (begin < window[1] and window[0] < end)


def _within(lines: Sequence[xplane.Line], window: _Window) -> list[xplane.Line]:
    kept = [
        line._replace(
            events=[event for event in line.events if _overlaps(event.begin, event.end, window)]
        )
        for line in lines
    ]
    return [line for line in kept if line.events]


def _clock_offsets(profiles: Sequence[StepProfile]) -> dict[str, int]:
    """Nanoseconds to add to the times of each task; its own measurement is preferred."""
    found = {task: each for p in profiles for task, each in p.peer_clock_offsets.items()}
    return found | {profile.task: profile.clock_offset for profile in profiles}


def _moved(lines: Sequence[xplane.Line], offset: int) -> list[xplane.Line]:
    return [
        line._replace(
            events=[
                event._replace(begin=event.begin + offset, end=event.end + offset)
                for event in line.events
            ]
        )
        for line in lines
    ]


def _ops_by_device(
    profiles: Sequence[StepProfile], offsets: Mapping[str, int], window: _Window
) -> dict[Device, list[AlignedOp]]:
    # A device's times are by the clock of its own machine, whichever task recorded them.
    # Without those that several tasks recorded.
    found: dict[Device, dict[tuple[int, int, str], AlignedOp]] = collections.defaultdict(dict)
    for profile in profiles:
        devices = [_device(name, profile.task) for name in profile.devices]
        shifts = [offsets.get(device.task, 0) for device in devices]
        for step in profile.steps:
            for device, node, begin, end in step.ops:
                first, last = begin + shifts[device], end + shifts[device]
                if _overlaps(first, last, window):
                    name, kind = profile.nodes[node]
                    op = AlignedOp(first, last, name, kind, step.number)
                    found[devices[device]].setdefault((first, last, name), op)
    return {device: sorted(ops.values()) for device, ops in found.items()}


def _device(name: str, own_task: str) -> Device:
    found = _OF_TASK.match(name)
    short = name.rpartition("/")[2].removeprefix("device:")
    if found is None or found["job"] == _LOCAL:
        return Device(own_task, short)
    return Device(f"{found['job']}_{found['index']}", short)
