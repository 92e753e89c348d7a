"""Dataclasses with the content of a report; its text, JSON and HTML are written from them.

Times are in milliseconds: means over the recorded steps of one task; `ms_of_steps` has the time of
each step. A share is a part of the mean step, from 0 to 1. Only `profiler_ms` includes the time of
profiling itself.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from tf_frame.profiling.step_profile import Cost

VERSION = 1

# Kinds of phases; hooks have the kinds of `step_profile.Span`.
INPUT, HOST, DEVICE = "input", "host_compute", "device_compute"
COMMUNICATION, OVERHEAD, LOOP = "communication", "session_overhead", "loop"


@dataclasses.dataclass(frozen=True)
class Bin:
    """A bar of the histogram of step times: `steps` steps took `from_ms` to `to_ms`."""

    from_ms: float
    to_ms: float
    steps: int


@dataclasses.dataclass(frozen=True)
class StepTimes:
    """Wall times of the steps.

    Attributes:
      jitter_ms: standard deviation.
      histogram: bars of equal width, from the quickest to the slowest step.
    """

    ms_of_steps: tuple[float, ...]
    median_ms: float
    p90_ms: float
    mean_ms: float
    jitter_ms: float
    histogram: tuple[Bin, ...]


@dataclasses.dataclass(frozen=True)
class Phase:
    """A part of the step's wall time; all phases together are the whole step.

    Attributes:
      kind: `input`: only input operations run, so the step waits for data; `host_compute`,
        `device_compute`: operations run on the CPU, or on a GPU; `communication`: the step only
        waits for other tasks or devices; `session_overhead`: nothing runs in the session call;
        `hook`, `checkpoint`, `summary`: a hook; `loop`: other Python.
      name: class of the hook, else empty.
      label: the phase in words.
    """

    kind: str
    name: str
    label: str
    ms: float
    share: float
    ms_of_steps: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Row:
    """Wall time of a group of operations.

    Wall time is divided equally between the operations that run at the same time. So the rows of a
    table add up to the time that operations run, `Report.operations_ms`.

    Attributes:
      name: a kind such as `convolution`, a type such as `Conv2D`, or a layer (name scope; empty:
        outside of all scopes).
      count: executions per step.
      busy_ms: sum of the durations, which is larger than `ms` if operations overlap.
      gflops_per_sec: 1e9 floating-point operations per second of `ms`; None if unknown.
    """

    name: str
    ms: float
    share: float
    count: float
    busy_ms: float
    gflops_per_sec: float | None
    ms_of_steps: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Operation(Row):
    """Wall time of one operation of the graph; `name` is its full name.

    Attributes:
      type: such as `_FusedConv2D`, without the prefix of oneDNN.
      kind: such as `convolution`.
      layer: name scope of the forward operation, without the scope of the clone.
      clone: scope of its clone; empty outside of the clones.
      device: short name, such as `CPU:0`, or `ps_0 CPU:0` for a device of another task.
      peak_share: its floating-point operations per second over the peak of the machine; None if
        one of the two is not known.
      bandwidth_share: the bytes that it reads and writes over those that the memory could move.
    """

    type: str
    kind: str
    layer: str
    clone: str
    device: str
    peak_share: float | None = None
    bandwidth_share: float | None = None


@dataclasses.dataclass(frozen=True)
class CloneRow(Row):
    """Wall time of the operations of a clone; operations of no clone have an empty name.

    Attributes:
      active_ms: time that at least one of its operations runs.
      idle_ms: time from the first operation of any clone to its last one, less `active_ms`.
      wait_ms: time from its last operation to the last one of any clone; `active_ms`, `idle_ms`
        and `wait_ms` add up to the same time for all clones.
    """

    active_ms: float
    idle_ms: float
    wait_ms: float


@dataclasses.dataclass(frozen=True)
class Owner:
    """An operation that owns memory at the peak, with its share of the peak."""

    name: str
    bytes: int
    share: float


@dataclasses.dataclass(frozen=True)
class MemoryRow:
    """Memory of a device, without variables, in the recorded step that needed most.

    Attributes:
      step: the global step.
      owners: the largest owners, by falling bytes.
    """

    device: str
    step: int
    peak_bytes: int
    owners: tuple[Owner, ...]


@dataclasses.dataclass(frozen=True)
class ScopeRow(Cost):
    """Static cost and time of a name scope.

    Attributes:
      ms: wall time of its operations, forward and backward, without operations that wait for
        input or for other tasks.
      gflops_per_sec: flops / ms; None if unknown.
    """

    ms: float
    share: float
    gflops_per_sec: float | None


@dataclasses.dataclass(frozen=True)
class HookRow:
    """Cost of a hook; see `step_profile.HookCost`.

    Attributes:
      ms, share: cost in the recorded steps.
      run_ms: milliseconds per step over the whole run so far; None if it ran less than twice.
      run_share: `run_ms` as a part of the mean recorded step; None if `run_ms` is None.
      calls: number of calls in the run; None if it is not recorded.
      every_steps: steps between two calls; None before the second.
    """

    name: str
    kind: str
    ms: float
    share: float
    run_ms: float | None
    run_share: float | None
    calls: int | None
    every_steps: float | None
    asynchronous: bool = False
    option: str = ""


@dataclasses.dataclass(frozen=True)
class TaskRow:
    """The steps of one task.

    Attributes:
      shares: share of each kind of phase; the shares of all hooks are added up.
      straggler: whether the task is much slower than the other tasks.
    """

    task: str
    host: str
    steps: int
    median_ms: float
    p90_ms: float
    shares: dict[str, float]
    straggler: bool


@dataclasses.dataclass(frozen=True)
class Use:
    """Operations that run on a device at the same time.

    Attributes:
      device: short name, as in `Operation`.
      busy_share: share of the time that at least one operation runs.
      mean: mean number of operations that run at the same time; one operation may use several
        cores.
      step: the global step of `timeline`: the one nearest to the median.
      timeline: mean number in each of equally long parts of this step.
    """

    device: str
    busy_share: float
    mean: float
    step: int
    timeline: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Hint:
    """A cause of slow steps.

    Attributes:
      cause: identifier that stays the same between versions, such as `slow_input`.
      severity: share of the step that would be saved.
      subject: name of the hook, operation or clone; empty if the cause has none.
      text, remedy: the cause and advice in words, with the option that helps.
      option: this option, such as `--steps_per_loop`; empty if no option helps.
      changes: options of the run -> values, as on the command line, that remove the cause; empty:
        only the user can remove it.
      probe: options -> values that show what the cause costs, where they do not remove it.
    """

    cause: str
    severity: float
    subject: str
    text: str
    remedy: str
    option: str
    changes: dict[str, str] = dataclasses.field(default_factory=dict)
    probe: dict[str, str] = dataclasses.field(default_factory=dict)


# The cause of a proof that has the changes of several hints.
TOGETHER = "together"


@dataclasses.dataclass(frozen=True)
class Proof:
    """The result of a trial of option changes, in turns with the training as it is.

    Attributes:
      cause: cause of the hint with these changes; `TOGETHER`: all changes that helped.
      changes: options of the run -> values, as on the command line.
      verdict: `faster`, `no gain`, `slower`, `unclear`, or `failed`.
      ratio, low, high: speed with the changes over speed without, and its 95 % interval; None if
        the trial failed, or the machine is too noisy for a figure.
      losses: whether both compute the same losses, in words.
      secs: time of the turns.
      error: the reason of a failure.
      is_probe: whether the changes only show what the cause costs.
    """

    cause: str
    changes: dict[str, str]
    verdict: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    losses: str = ""
    secs: float = 0.0
    error: str = ""
    is_probe: bool = False


@dataclasses.dataclass(frozen=True)
class Report:
    """All figures of one task's recorded steps, and a row for each other task.

    Attributes:
      version: version of these dataclasses, and so of the JSON.
      run: name of the run folder, such as `2026_01_31_12_00_00_step_100`.
      model: name of the model; empty if unknown.
      task: the task of all figures except `tasks`.
      first_step, last_step: recorded global steps.
      examples_per_sec: of this task, by the median step; None if the batch size is unknown.
      profiler_ms: time of profiling's own hooks in a step, which all other times leave out.
      input_share: share of the step that waits for input.
      operations_ms: time of a step that operations run: the total of `kinds`, `types`,
        `layers`, `clones` and `operations`.
      operations: by falling time; of very many operations, the last row, `(others)`, is the rest.
      phases, kinds, types, layers, clones, memory, hooks, tasks, use: by falling time, or in order.
      costs: in the order of the model; the first is the whole model.
      hints: by falling gain.
      python_functions: the Python functions of the input.
      options: option of the run -> its value, as a YAML file has it; empty if unknown.
      proofs: trials of the hints' changes, in order; the last may have those of several hints.
    """

    version: int
    run: str
    model: str
    task: str
    host: str
    cores: int
    first_step: int
    last_step: int
    examples_per_step: int | None
    examples_per_sec: float | None
    step: StepTimes
    profiler_ms: float
    phases: tuple[Phase, ...]
    input_share: float
    operations_ms: float
    kinds: tuple[Row, ...]
    types: tuple[Row, ...]
    layers: tuple[Row, ...]
    clones: tuple[CloneRow, ...]
    operations: tuple[Operation, ...]
    memory: tuple[MemoryRow, ...]
    costs: tuple[ScopeRow, ...]
    hooks: tuple[HookRow, ...]
    tasks: tuple[TaskRow, ...]
    use: tuple[Use, ...]
    hints: tuple[Hint, ...]
    python_functions: tuple[str, ...] = ()
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    proofs: tuple[Proof, ...] = ()


def to_json(report: Report) -> str:
    """Returns a report as JSON; keys are the names of the attributes."""
    return json.dumps(dataclasses.asdict(report), indent=1, allow_nan=False)
