"""Reads the executions of operations from the statistics of a step, for all kinds of sessions.

    for device, executions in read_executions(run_metadata.step_stats).items():
        ...

A session of a server lists each device twice; labels of transfers have a different form; only some
records have nanoseconds; some clocks are off by years.
"""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_LOG = logging.getLogger("tf_frame")
# Operations of a step that are more than an hour apart have no common clock.
_FARTHEST = 3600 * 10**9
_NO_INPUTS: Sequence[str] = ()
# `[1.5MB] [20.0Mb/s] edge_5_x from /job:ps/... to /job:worker/...`, see RecordDataTransfer in
# tensorflow/core/distributed_runtime/worker_cache_logger.cc; the first two may be missing.
_TRANSFER = re.compile(
    r"(?:\[(?P<amount>[\d.]+)(?P<unit>M?B)\] )?(?:\[\S+\] )?"
    r"(?P<tensor>\S+) from (?P<source>\S+) to (?P<destination>\S+)$"
)
_UNITS = {"B": 1, "MB": 1 << 20}
# The name of a transferred tensor begins with the number of its edge in the graph.
_EDGE = re.compile(r"^edge_\d+_")


class Transfer(NamedTuple):
    """A tensor that came from another device.

    Attributes:
      tensor: its name, without the number of the edge.
      source, destination: the devices.
      bytes: its size; 0 if unknown.
    """

    tensor: str
    source: str
    destination: str
    bytes: int


class Execution(NamedTuple):
    """One execution of an operation.

    Attributes:
      name: the operation's name.
      type: its type, such as `Conv2D`.
      inputs: names of its inputs, as in a `NodeDef`.
      begin, end: nanoseconds since 1970; equal if it took no measurable time.
      stats: its `NodeExecStats`.
      transfer: of a received tensor.
    """

    name: str
    type: str
    inputs: Sequence[str]
    begin: int
    end: int
    stats: Any
    transfer: Transfer | None = None


def read_executions(step_stats: Any) -> Mapping[str, list[Execution]]:
    """Returns the executions of each device in a `StepStats`, by rising begin.

    Executions with a clock that is off by hours are left out, with a warning.
    """
    devices: dict[str, list[Execution]] = {}
    for dev_stats in step_stats.dev_stats:
        parse = _kernel if _is_gpu_trace(dev_stats.device) else _execution
        devices.setdefault(dev_stats.device, []).extend(map(parse, dev_stats.node_stats))
    for executions in devices.values():
        executions.sort(key=operator.attrgetter("begin"))
    _drop_strays(devices)
    return devices


def producer_name(name: str) -> str:
    """Returns the operation that produced an input, or a transferred tensor.

    The result is `conv` for `conv:1`, and for `conv/_5`, the other end of a transfer.
    """
    if ":" in name:
        name = name[: name.index(":")]
    cut = name.rfind("/_")
    return name[:cut] if cut > 0 else name


def execution_times(stats: Any) -> tuple[int, int]:
    """Returns begin and end of a `NodeExecStats`, in nanoseconds where it has them."""
    begin = stats.all_start_nanos
    if begin:
        end = begin + stats.all_end_rel_nanos
    else:
        begin = stats.all_start_micros * 1000
        end = begin + stats.all_end_rel_micros * 1000
    return begin, end if end > begin else begin


def _execution(stats: Any) -> Execution:
    begin, end = execution_times(stats)
    # `NAME = TYPE(INPUT, INPUT)`; TensorFlow leaves out the last bracket for transfers.
    _, equals, call = stats.timeline_label.partition(" = ")
    if not equals:
        return _transfer(stats, begin, end)
    kind, _, inputs = call.rstrip(")").partition("(")
    names = inputs.split(", ") if inputs else _NO_INPUTS
    return Execution(stats.node_name, kind, names, begin, end, stats)


def _transfer(stats: Any, begin: int, end: int) -> Execution:
    match = _TRANSFER.match(stats.timeline_label)
    transfer = None
    if match is not None:
        size = sum(
            output.tensor_description.allocation_description.requested_bytes
            for output in stats.output
        )
        size = size or int(float(match["amount"] or 0) * _UNITS.get(match["unit"], 0))
        tensor = _EDGE.sub("", match["tensor"])
        transfer = Transfer(tensor, match["source"], match["destination"], size)
    name = stats.node_name
    return Execution(name, name or "unknown", _NO_INPUTS, begin, end, stats, transfer)


def _is_gpu_trace(device: str) -> bool:
    return "/stream:" in device or "/memcpy" in device


def _kernel(stats: Any) -> Execution:
    """A kernel on a GPU: `NAME:TYPE` is in its label as `@@NAME:TYPE#`, or else its `node_name`."""
    annotation = re.search(r"@@([^#]+)#", stats.timeline_label)
    name, _, kind = (annotation[1] if annotation else stats.node_name).partition(":")
    return Execution(
        name, kind.partition(":")[0] or "unknown", _NO_INPUTS, *execution_times(stats), stats
    )


def _drop_strays(devices: Mapping[str, list[Execution]]) -> None:
    executions = [execution for device in devices.values() for execution in device]
    begins = sorted(execution.begin for execution in executions)
    last = max((execution.end for execution in executions), default=0)
    if not begins or last - begins[0] <= _FARTHEST:
        return
    earliest, latest = (begins[len(begins) // 2] + sign * _FARTHEST for sign in (-1, 1))
    for device in devices.values():
        device[:] = [e for e in device if earliest <= e.begin and e.end <= latest]
    remaining = sum(map(len, devices.values()))
    _LOG.warning(
        "%d of %d operations of the step are left out: their clock is off by an hour or more",
        len(begins) - remaining,
        len(begins),
    )
