"""Draws the run metadata of a session run as a Chrome trace, without TensorFlow.

    chrome_trace(run_metadata, memory=True)

It replaces TensorFlow's `timeline.Timeline`, which is slow, rounds to microseconds, and drops the
sources of received tensors and the release of memory.
"""

from __future__ import annotations

import bisect
import collections
import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.collector import without_collector
from tf_frame.profiling import memory as memory_use
from tf_frame.profiling.step_stats import Execution, producer_name, read_executions
from tf_frame.profiling.trace_events import Bar, Trace, quote

_Executions = Mapping[str, Sequence[Execution]]
_BEGIN = operator.attrgetter("begin")


def chrome_trace(run_metadata: Any, *, dataflow: bool = True, memory: bool = False) -> str:
    """Draws the operations of a run.

    Every event has `ph`, `pid`, `tid` and `ts`. Bars on a lane do not overlap. An operation without
    a measured time is one microsecond long. Times count from the first operation; see
    `trace_events`.

    Args:
      run_metadata: the `RunMetadata` of the run; it is not changed.
      dataflow: also draw arrows from the producer of a tensor to its consumers.
      memory: also draw the life of each tensor, and a curve of the allocated bytes without
        variables.

    Returns:
      The trace, as JSON in one line.
    """
    with without_collector():
        return _draw_trace(read_executions(run_metadata.step_stats), dataflow, memory).json()


def _draw_trace(executions: _Executions, dataflow: bool, memory: bool) -> Trace:
    begin = min((ops[0].begin for ops in executions.values() if ops), default=0)
    trace = Trace(begin - begin % 1000)  # Allocations have whole microseconds.
    drawn = {
        device: _draw(trace, trace.row(f"{device} Compute"), ops)
        for device, ops in executions.items()
        if ops
    }
    if dataflow:
        _draw_arrows(trace, executions, drawn)
    if memory:
        _draw_memory(trace, executions)
    return trace


def _draw(trace: Trace, row: int, executions: Sequence[Execution]) -> list[Bar]:
    """Draws the bars of a device."""
    bars = trace.place(row, ((op.begin, op.end) for op in executions))
    for execution, bar in zip(executions, bars, strict=True):
        trace.bar(bar, "Op", execution.type, _arguments(execution))
    return bars


def _arguments(execution: Execution) -> str:
    name, kind, inputs, _, _, _, transfer = execution
    facts = _inputs_format(len(inputs)) % tuple(map(quote, inputs)) if inputs else ""
    if transfer is not None:
        facts = (
            f',"tensor":{quote(transfer.tensor)},"source":{quote(transfer.source)},'
            f'"destination":{quote(transfer.destination)},"bytes":{transfer.bytes}'
        )
    return f'{{"name":{quote(name)},"op":{quote(kind)}{facts}}}'


@functools.cache
def _inputs_format(count: int) -> str:
    return "".join(f',"input{number}":%s' for number in range(count))


def _draw_arrows(trace: Trace, executions: _Executions, drawn: Mapping[str, list[Bar]]) -> None:
    """Draws arrows to other lanes; on the same lane they would hide the bars."""
    producers = _producers(executions, drawn)
    rows = {device: bars[0].row for device, bars in drawn.items()}
    for device, bars in drawn.items():
        for execution, bar in zip(executions[device], bars, strict=True):
            row, lane, begin, _, _, _ = bar
            for name in execution.inputs:
                # A control input, `^NAME`, brings no data: no operation has this name.
                if name not in producers:
                    name = producer_name(name)
                senders = producers.get(name)
                if senders:
                    sender = senders[0] if len(senders) == 1 else _latest(senders, begin)
                    if sender[1] != lane or sender[0] != row:
                        trace.arrow(name, sender, bar)
            if execution.transfer is not None:
                source = rows.get(execution.transfer.source)
                name = execution.transfer.tensor
                senders = producers.get(producer_name(name), [])
                senders = [sender for sender in senders if sender.row == source]
                if senders:
                    trace.arrow(name, _latest(senders, begin), bar)


def _producers(executions: _Executions, drawn: Mapping[str, list[Bar]]) -> dict[str, list[Bar]]:
    """Bars by the names of operations, by rising begin."""
    producers: dict[str, list[Bar]] = collections.defaultdict(list)
    for device, bars in drawn.items():
        for execution, bar in zip(executions[device], bars, strict=True):
            producers[execution.name].append(bar)
    for bars in producers.values():
        bars.sort(key=_BEGIN)
    return dict(producers)


def _latest(bars: Sequence[Bar], time: int) -> Bar:
    """The last execution that began before `time`: loops run an operation several times."""
    return bars[max(bisect.bisect_right(bars, time, key=_BEGIN) - 1, 0)]


def _draw_memory(trace: Trace, executions: _Executions) -> None:
    for device, tensors in memory_use.output_tensors(executions).items():
        if tensors:
            row = trace.row(f"{device} Tensors")
            for tensor in tensors:
                facts = _facts(tensor.description)
                trace.lifetime(row, tensor.name, tensor.begin, tensor.end, facts)
    for (task, allocator), changes in _by_task(memory_use.memory_changes(executions)).items():
        row = trace.row(f"{task} Allocators".strip())
        trace.curve(row, allocator, memory_use.curve(changes))


def _by_task(
    device_changes: Mapping[tuple[str, str], list[memory_use.Change]],
) -> dict[tuple[str, str], list[memory_use.Change]]:
    """Joins the changes of all devices of a process, which share allocators."""
    joined: dict[tuple[str, str], list[memory_use.Change]] = collections.defaultdict(list)
    for (device, allocator), changes in device_changes.items():
        joined[device.rpartition("/device:")[0], allocator] += changes
    return {
        key: sorted(changes, key=operator.attrgetter("time")) for key, changes in joined.items()
    }


def _facts(description: Any) -> dict[str, Any]:
    memory = description.allocation_description
    return {
        "bytes": memory.requested_bytes,
        "allocator": memory.allocator_name,
        "shape": [dim.size for dim in description.shape.dim],
        "dtype": description.dtype,
    }
