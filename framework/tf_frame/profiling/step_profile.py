"""Recorded steps of one task, as a compressed JSON file.

The recorder (`tf_frame.profiling.recorder`) makes a `StepProfile`; `tf-frame profile show`, `diff`
and `merge` read it without TensorFlow. Times are nanoseconds since 1970, by the clock of the
task's machine.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tf_frame import file_system
from tf_frame.errors import DataError
from tf_frame.side_files import FORM_ERRORS
from tf_frame.text import short

SUFFIX = ".steps.json.gz"
_VERSION = 1
_DAMAGED = (OSError, EOFError, zlib.error, *FORM_ERRORS)

# Kinds of spans, the work of Python within a step.
SESSION, HOOK, CHECKPOINT, SUMMARY = "session", "hook", "checkpoint", "summary"
# The hook of profiling; the report leaves its time out of a step.
PROFILER = "ProfileHook"
HOOK_KINDS = (HOOK, CHECKPOINT, SUMMARY)


class Span(NamedTuple):
    """Time of the training thread within a step.

    Attributes:
      kind: `session` for the session call; `checkpoint`, `summary` or `hook` for a hook.
      name: class of the hook; empty for the session call.
      begin, end: times.
    """

    kind: str
    name: str
    begin: int
    end: int


class Op(NamedTuple):
    """One execution of an operation.

    Attributes:
      device: position in `StepProfile.devices`.
      node: position in `StepProfile.nodes`.
      begin, end: times.
    """

    device: int
    node: int
    begin: int
    end: int


class Node(NamedTuple):
    """An operation of the optimised graph: full name, and type such as `_FusedConv2D`."""

    name: str
    type: str


class Work(NamedTuple):
    """Floating-point operations of a node, and bytes of its inputs and outputs."""

    flops: int
    bytes: int


class Owner(NamedTuple):
    """Name of an operation, and bytes of its output and temporary memory at the peak."""

    node: str
    bytes: int


@dataclasses.dataclass(frozen=True)
class Memory:
    """Memory of a step on one device, without variables.

    Attributes:
      device: position in `StepProfile.devices`.
      peak: largest number of bytes that were allocated at the same time.
      owners: the operations with the most bytes, by falling bytes.
    """

    device: int
    peak: int
    owners: Sequence[Owner]


@dataclasses.dataclass(frozen=True)
class Step:
    """One recorded step.

    Attributes:
      number: the global step after it.
      begin, end: from the end of the step before to the end of its hooks.
      spans: the session call and the hooks, in order, without overlap.
      ops: executions of operations, in the order of their begin; in a session of a server also
        operations of other tasks.
      memory: memory of each device with records.
    """

    number: int
    begin: int
    end: int
    spans: Sequence[Span]
    ops: Sequence[Op]
    memory: Sequence[Memory]


@dataclasses.dataclass(frozen=True)
class Cost:
    """Static cost of a name scope, with all scopes inside.

    Attributes:
      scope: the name scope; empty for the whole model.
      parameters: number of trained values.
      flops: floating-point operations of a step, forward and backward, 2 for a multiply-add;
        None if shapes are unknown.
    """

    scope: str
    parameters: int
    flops: int | None


@dataclasses.dataclass(frozen=True)
class HookCost:
    """Cost of a hook over the whole run so far.

    Attributes:
      name: its class.
      kind: as in `Span`.
      calls: number of its calls.
      secs: time of all calls.
      every_steps: steps between two calls by its cadence; 1 without a cadence; None if unknown.
      asynchronous: whether another thread writes its files.
      option: the option of the run that makes it; empty: none.
    """

    name: str
    kind: str
    calls: int
    secs: float
    every_steps: float | None
    asynchronous: bool = False
    option: str = ""


@dataclasses.dataclass(frozen=True)
class StepProfile:
    """Recorded steps of one task.

    Attributes:
      task: such as `worker_0`.
      host: name of the machine.
      cores: processors of the machine.
      devices: full names, such as `/job:localhost/replica:0/task:0/device:CPU:0`.
      nodes: operations, each once.
      steps: in order.
      costs: static cost of scopes; the first is the whole model.
      hooks: cost of hooks over the run.
      examples_per_step: examples of a step of this task.
      model: name of the model; empty if unknown.
      python_functions: the Python functions of the input, which share one interpreter.
      work: of each node; None where it is not known.
      peak_flops, peak_bytes: floating-point operations and bytes per second that the devices of
        this task can reach; None: they were not measured.
      options: option of the run -> its value, as a YAML file has it; empty if unknown.
      clone_scopes: name scope of each of several clones, such as `clone_0`.
      clock_offset: nanoseconds to add to this task's times for the clock of the chief.
      peer_clock_offsets: offsets of other tasks, such as `ps_0`, if this task measured them.
    """

    task: str
    host: str
    cores: int
    devices: Sequence[str]
    nodes: Sequence[Node]
    steps: Sequence[Step]
    costs: Sequence[Cost] = ()
    hooks: Sequence[HookCost] = ()
    examples_per_step: int | None = None
    model: str = ""
    clone_scopes: Sequence[str] = ()
    clock_offset: int = 0
    peer_clock_offsets: Mapping[str, int] = dataclasses.field(default_factory=dict)
    python_functions: Sequence[str] = ()
    work: Sequence[Work | None] = ()
    peak_flops: float | None = None
    peak_bytes: float | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def to_bytes(profile: StepProfile) -> bytes:
    """Returns the content of a file."""
    content = {"version": _VERSION, **dataclasses.asdict(profile)}
    return gzip.compress(json.dumps(content, separators=(",", ":")).encode(), compresslevel=3)


def read(path: str) -> StepProfile:
    """Reads a file.

    Raises:
      DataError: the file is damaged, or of another version of tf-frame.
    """
    try:
        content = json.loads(gzip.decompress(file_system.read_bytes(path)))
        version = content.pop("version")
        if version == _VERSION:
            return _profile(content)
    except _DAMAGED as error:
        raise DataError(
            f"{short(path)} is no profile of tf-frame, or damaged: {error!s:.200}"
        ) from error
    raise DataError(
        f"{short(path)} has version {version} of the format; this tf-frame reads version {_VERSION}"
    )


def _profile(content: Mapping[str, Any]) -> StepProfile:
    parts = {
        "nodes": [Node(*item) for item in content["nodes"]],
        "steps": [_step(item) for item in content["steps"]],
        "costs": [Cost(**item) for item in content["costs"]],
        "hooks": [HookCost(**item) for item in content["hooks"]],
        "work": [item and Work(*item) for item in content.get("work", ())],
    }
    return StepProfile(**{**content, **parts})


def _step(content: Mapping[str, Any]) -> Step:
    parts = {
        "spans": [Span(*item) for item in content["spans"]],
        "ops": [Op(*item) for item in content["ops"]],
        "memory": [_memory(item) for item in content["memory"]],
    }
    return Step(**{**content, **parts})


def _memory(content: Mapping[str, Any]) -> Memory:
    return Memory(**{**content, "owners": [Owner(*item) for item in content["owners"]]})
