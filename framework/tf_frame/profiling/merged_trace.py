"""Draws all tasks of a profile as one Chrome trace, without TensorFlow.

    trace = draw_tasks(align(read_run(find_folder("runs/first"))))
    trace.json()

Each task has a row for its Python code and a row for each of its devices.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence

from tf_frame.profiling import xplane
from tf_frame.profiling.clock_alignment import AlignedOp, AlignedRun, Device
from tf_frame.profiling.step_profile import Step
from tf_frame.profiling.step_stats import producer_name
from tf_frame.profiling.trace_events import Bar, Trace, arguments

_RECEIVERS = ("RecvTensor", "_Recv", "_HostRecv")
_SENDERS = ("_Send", "_HostSend")
_Ops = Mapping[Device, Sequence[AlignedOp]]
_Bars = Mapping[Device, Sequence[Bar]]


def draw_tasks(run: AlignedRun) -> Trace:
    """Draws the tasks of a run.

    Steps, the session call and hooks are nested bars of the row for Python. An arrow leads to each
    received tensor from its sender, or else from the operation of its name on another device.
    """
    trace = Trace(run.begin)
    bars: dict[Device, Sequence[Bar]] = {}
    for task in run.tasks:
        if run.steps.get(task):
            _draw_python(trace, trace.row(f"{task} Python"), run.steps[task])
        for device in sorted(device for device in run.ops if device.task == task):
            bars[device] = _draw_ops(trace, trace.row(" ".join(device)), run.ops[device])
        _draw_capture(trace, task, run.captures.get(task, ()))
    _draw_transfers(trace, run.ops, bars)
    return trace


def _draw_python(trace: Trace, row: int, steps: Sequence[Step]) -> None:
    trace.lane(row, 0, "training")
    for step in steps:
        label = arguments({"step": step.number})
        bar = trace.at(row, 0, step.begin, step.end)
        trace.bar(bar, "step", f"step {step.number}", label)
        for kind, name, begin, end in step.spans:
            # Within the step, or the viewers would not nest it.
            begin, end = max(begin, bar.begin), min(end, bar.end)
            if begin < end:
                trace.bar(trace.at(row, 0, begin, end), kind, name or "session call", label)


def _draw_ops(trace: Trace, row: int, ops: Sequence[AlignedOp]) -> list[Bar]:
    bars = trace.place(row, ((op.begin, op.end) for op in ops))
    for op, bar in zip(ops, bars, strict=True):
        label = arguments({"name": op.name, "op": op.type, "step": op.step})
        trace.bar(bar, "Op", op.type, label)
    return bars


def _draw_capture(trace: Trace, task: str, lines: Sequence[xplane.Line]) -> None:
    rows: dict[str, int] = {}
    for number, line in enumerate(lines):
        if line.plane not in rows:
            rows[line.plane] = trace.row(f"{task} {line.plane}")
        trace.lane(rows[line.plane], number, line.name)
        for event in line.events:
            bar = trace.at(rows[line.plane], number, event.begin, event.end)
            trace.bar(bar, "XPlane", event.name)


def _draw_transfers(trace: Trace, ops: _Ops, bars: _Bars) -> None:
    sources = _sources(ops, bars)
    for device, device_ops in ops.items():
        for op, bar in zip(device_ops, bars[device], strict=True):
            if op.type in _RECEIVERS:
                name = producer_name(op.name)
                earlier = [
                    (sends, sent)
                    for source, sends, sent in sources.get(name, ())
                    if source != device and sent.begin <= bar.begin
                ]
                if earlier:
                    _, sent = max(earlier, key=lambda pair: (pair[0], pair[1].begin))
                    trace.arrow(name, sent, bar)


def _sources(ops: _Ops, bars: _Bars) -> Mapping[str, Sequence[tuple[Device, bool, Bar]]]:
    """Name of a received tensor -> its possible senders: device, whether it is a send op, bar."""
    received = {
        producer_name(op.name)
        for device_ops in ops.values()
        for op in device_ops
        if op.type in _RECEIVERS
    }
    sources: dict[str, list[tuple[Device, bool, Bar]]] = collections.defaultdict(list)
    for device, device_ops in ops.items():
        for op, bar in zip(device_ops, bars[device], strict=True):
            name = producer_name(op.name)
            if name in received and op.type not in _RECEIVERS:
                sources[name].append((device, op.type in _SENDERS, bar))
    return sources
