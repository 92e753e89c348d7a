"""Memory of a step by its run metadata: the curve, the peak, and the owners at the peak.

    memory_peaks(run_metadata, {"/device:CPU:0": 0})

The allocation records of an operation hold the allocations of its outputs and temporary memory,
and their release, even if another operation was the last user. Variables, which the step did not
allocate, have no record. If a device has no records at all, its outputs replace them: from the
start of their operation to the end of the last operation that reads them.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tf_frame.profiling.step_profile import Memory, Owner
from tf_frame.profiling.step_stats import Execution, producer_name, read_executions

_MOST_OWNERS = 20


class Change(NamedTuple):
    """An allocation of an operation, or its release.

    Attributes:
      time: nanoseconds since 1970.
      bytes: negative for a release.
      owner: name of the operation.
    """

    time: int
    bytes: int
    owner: str


class Tensor(NamedTuple):
    """An output of an operation.

    Attributes:
      name: such as `conv` or `split:1`.
      begin, end: from the begin of the operation to the end of its last reader.
      execution: the execution of the operation.
      description: its `TensorDescription`.
    """

    name: str
    begin: int
    end: int
    execution: Execution
    description: Any


def memory_peaks(run_metadata: Any, devices: Mapping[str, int]) -> tuple[Memory, ...]:
    """Returns the memory of a step on each device, for the allocator with the largest peak.

    `devices` has the position of each device in the profile.
    """
    executions = read_executions(run_metadata.step_stats)
    peaks: dict[str, Memory] = {}
    for (device, _), changes in memory_changes(executions).items():
        memory = _peak(devices[device], changes)
        if device not in peaks or memory.peak > peaks[device].peak:
            peaks[device] = memory
    return tuple(sorted(peaks.values(), key=operator.attrgetter("device")))


def memory_changes(
    executions: Mapping[str, Sequence[Execution]],
) -> dict[tuple[str, str], list[Change]]:
    """Returns the changes of memory by (device, allocator), by rising time.

    Of changes in the same microsecond, changes of an earlier operation come first.
    """
    all_changes: dict[tuple[str, str], list[Change]] = collections.defaultdict(list)
    tensors = None
    for device, device_executions in executions.items():
        recorded = list(_recorded(device_executions))
        if not recorded:
            tensors = tensors if tensors is not None else output_tensors(executions)
            recorded = list(_estimated(tensors.get(device, ())))
        for allocator, change in recorded:
            all_changes[device, allocator].append(change)
    by_time = operator.attrgetter("time")
    return {key: sorted(changes, key=by_time) for key, changes in all_changes.items()}


def curve(changes: Sequence[Change]) -> list[tuple[int, int]]:
    """Returns (time, bytes in use) after each change."""
    totals = itertools.accumulate(change.bytes for change in changes)
    return [(change.time, total) for change, total in zip(changes, totals, strict=True)]


def output_tensors(executions: Mapping[str, Sequence[Execution]]) -> dict[str, list[Tensor]]:
    """Returns the outputs of each device's operations that have a size."""
    last_read: dict[str, int] = {}
    for execution in itertools.chain.from_iterable(executions.values()):
        for name in execution.inputs:
            producer = producer_name(name)
            last_read[producer] = max(last_read.get(producer, 0), execution.end)
    return {
        device: [tensor for op in ops for tensor in _outputs(op, last_read)]
        for device, ops in executions.items()
    }


def _outputs(execution: Execution, last_read: Mapping[str, int]) -> Iterator[Tensor]:
    if execution.transfer is not None:  # Its readers name another operation.
        return
    end = max(execution.end, last_read.get(execution.name, 0))
    for output in execution.stats.output:
        name = f"{execution.name}:{output.slot}" if output.slot else execution.name
        yield Tensor(name, execution.begin, end, execution, output.tensor_description)


def _recorded(executions: Sequence[Execution]) -> Iterator[tuple[str, Change]]:
    for execution in executions:
        for used in execution.stats.memory:
            allocator, owner = used.allocator_name, execution.name
            for record in used.allocation_records:
                yield allocator, Change(record.alloc_micros * 1000, record.alloc_bytes, owner)


def _estimated(tensors: Sequence[Tensor]) -> Iterator[tuple[str, Change]]:
    """Tensors that share memory, such as a tensor and its reshaped view, count once."""
    used_until: dict[tuple[str, int], int] = {}
    for tensor in tensors:
        memory = tensor.description.allocation_description
        size = memory.allocated_bytes or memory.requested_bytes
        place = memory.allocator_name, memory.ptr
        if not size or (memory.ptr and tensor.begin < used_until.get(place, 0)):
            continue
        used_until[place] = tensor.end
        owner = tensor.execution.name
        yield memory.allocator_name, Change(tensor.begin, size, owner)
        yield memory.allocator_name, Change(tensor.end, -size, owner)


def _peak(device: int, changes: Sequence[Change]) -> Memory:
    totals = [total for _, total in curve(changes)]
    peak = max(totals)
    held: collections.Counter[str] = collections.Counter()
    for change in changes[: totals.index(peak) + 1]:
        held[change.owner] += change.bytes
    owners = [Owner(*pair) for pair in held.most_common(_MOST_OWNERS) if pair[1] > 0]
    return Memory(device, max(peak, 0), owners)
