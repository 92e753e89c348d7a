"""Chrome traces of session runs, by their run metadata; no TensorFlow.

    chrome_trace(run_metadata, memory=True)

It stands for TensorFlow's `timeline.Timeline`, which is slow, rounds to microseconds, drops
where a received tensor comes from, and does not know when memory is released.
"""

from __future__ import annotations

import bisect
import collections
import contextlib
import functools
import gc
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.profiling import memory as memory_use
from tf_frame.profiling.step_stats import Execution, producer_name, read_executions
from tf_frame.profiling.trace_events import Bar, Trace, quote

_Executions = Mapping[str, Sequence[Execution]]
_BEGIN = operator.attrgetter("begin")


def chrome_trace(run_metadata: Any, *, dataflow: bool = True, memory: bool = False) -> str:
    """Draws the operations of a run.

    Every event has `ph`, `pid`, `tid` and `ts`. Bars on a lane do not overlap. An operation for
    which no time was measured is drawn one microsecond long. Times count from the first
    operation, see `trace_events`.

    Args:
      run_metadata: the `RunMetadata` of the run; it is not changed.
      dataflow: also draw arrows from the producer of a tensor to its consumers.
      memory: also draw when each tensor lived, and a curve of the bytes that are allocated,
        without those of variables.

    Returns:
      The trace, as JSON in one line.
    """
    with _without_collector():
        return _trace_of(read_executions(run_metadata.step_stats), dataflow, memory).json()


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Stops the collector of cycles, which there are none of here.

    It would walk through all objects of TensorFlow again and again as hundreds of thousands of
    new ones are made: half of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _trace_of(executions: _Executions, dataflow: bool, memory: bool) -> Trace:
    begin = min((each[0].begin for each in executions.values() if each), default=0)
    trace = Trace(begin - begin % 1000)  # Allocations have whole microseconds.
    drawn = {
        device: _draw(trace, trace.row(f"{device} Compute"), each)
        for device, each in executions.items()
        if each
    }
    if dataflow:
        _draw_arrows(trace, executions, drawn)
    if memory:
        _draw_memory(trace, executions)
    return trace


def _draw(trace: Trace, row: int, executions: Sequence[Execution]) -> list[Bar]:
    """Draws the bars of a device."""
    bars = trace.place(row, ((each.begin, each.end) for each in executions))
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
                # A control input, `^NAME`, brings no data, and there is no operation of this name.
                if name not in producers:
                    name = producer_name(name)
                found = producers.get(name)
                if found:
                    sender = found[0] if len(found) == 1 else _latest(found, begin)
                    if sender[1] != lane or sender[0] != row:
                        trace.arrow(name, sender, bar)
            if execution.transfer is not None:
                source = rows.get(execution.transfer.source)
                name = execution.transfer.tensor
                found = producers.get(producer_name(name), [])
                there = [each for each in found if each.row == source]
                if there:
                    trace.arrow(name, _latest(there, begin), bar)


def _producers(executions: _Executions, drawn: Mapping[str, list[Bar]]) -> dict[str, list[Bar]]:
    """Bars by the names of operations, by rising begin."""
    found: dict[str, list[Bar]] = collections.defaultdict(list)
    for device, bars in drawn.items():
        for execution, bar in zip(executions[device], bars, strict=True):
            found[execution.name].append(bar)
    for each in found.values():
        if len(each) > 1:
            each.sort(key=_BEGIN)
    return dict(found)


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
    found: Mapping[tuple[str, str], list[memory_use.Change]],
) -> dict[tuple[str, str], list[memory_use.Change]]:
    """Joins the changes of a process's devices, which share their allocators."""
    joined: dict[tuple[str, str], list[memory_use.Change]] = {}
    for (device, allocator), changes in found.items():
        task = device.rpartition("/device:")[0]
        joined.setdefault((task, allocator), []).extend(changes)
    for changes in joined.values():
        changes.sort(key=operator.attrgetter("time"))
    return joined


def _facts(description: Any) -> dict[str, Any]:
    memory = description.allocation_description
    return {
        "bytes": memory.requested_bytes,
        "allocator": memory.allocator_name,
        "shape": [each.size for each in description.shape.dim],
        "dtype": description.dtype,
    }
