"""Finds causes of slow steps within the graph: input, memory, clones, operations, small steps."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from tf_frame.profiling.operation_names import is_gpu
from tf_frame.profiling.report.contents import (
    DEVICE,
    HOST,
    LOOP,
    OVERHEAD,
    CloneRow,
    Hint,
    Operation,
    Report,
)
from tf_frame.profiling.report.operation_kinds import (
    BATCH_NORM,
    COMMUNICATION,
    INPUT,
    NUMERIC,
    PYTHON,
    SUMMARY,
)
from tf_frame.text import readable_bytes

# xprof calls a step moderately input-bound from 5 % on, and highly from 20 % on
# (xprof/convert/op_stats_to_input_pipeline_analysis.cc).
_INPUT = 0.1
# Taking a batch that is ready costs about 0.1 ms, of a step that may have no more than 0.5 ms: it
# is a part of the start of a small step.
_READY_MS = 0.15
# Half of the peak, and more than all activations of a small model: 72 MiB for ResNet-50 with 8
# images of 64 x 64.
_MEMORY, _MEMORY_BYTES = 0.5, 100 * 2**20
# Convolutions of a layer often take a tenth of the step, and are no cause.
_HOST_OPERATION = 0.1
_NO_PYTHON = (
    "num_parallel_calls helps a Python function where it works in C, as PIL does, or waits (then "
    "with as many threads: private_threadpool_size of tf.data.Options().threading); else "
    "one interpreter runs all calls: write it with TensorFlow's operations, or keep its results "
    "by cache(), before repeat() and random changes; or "
)
# Gathers and similar operations are work of the model, too; only a very long one is a cause.
_LONG_OPERATION = 0.2
# Equal clones that share cores end some percent apart.
_CLONE = 0.15
# Python functions of two clones wait for each other, so one of them may take twice as long.
_TWIN = 3
# Updates that run at the same time as other operations take little of the wall time; if fewer
# than `_TOGETHER` run at once, they are serial.
_SERIAL, _TOGETHER = 0.05, 1.4
_COMPUTING = (HOST, DEVICE)
_THREADS, _FEW_THREADS = ("intra_op_threads", "inter_op_threads"), 0.1
# Layers between two layouts are a few percent.
_COPIES = 0.1
# Options of plugins that are called so everywhere: in Keras, slim and tf.layers.
LAYOUT, _CACHE = "model.data_format", "input.cache"
CHANNELS_LAST = {"NCHW": "NHWC", "channels_first": "channels_last"}
# A session call costs about 0.2 ms, a hook some microseconds; above this share a loop helps.
_SMALL, _SMALL_MS = 0.2, 20.0
# Recording an operation takes some microseconds of the session call, which other steps do not have:
# 4.7 with TensorFlow 2.21 and a graph of 1000 operations, 4.0 with one of 63 on a quicker machine.
_RECORDING_MS = 0.004
_LOOP = 10
SLOW_INPUT = "slow_input"
# What shows the cost of an input: batches that are in memory.
INPUT_PROBE = {"overfit_batches": "1"}


def slow_input(report: Report) -> Iterable[Hint]:
    """Finds a step that waits for its batch.

    Half of the steps count, too: one long step, such as the first after a checkpoint, hides in the
    mean that all others wait.
    """
    ready = _READY_MS / report.step.mean_ms
    functions, is_typical = report.python_functions, report.input_share - ready < _INPUT
    share = _typical_input_share(report) if is_typical else report.input_share
    if share - ready >= _INPUT:
        yield Hint(
            SLOW_INPUT,
            share,
            "",
            f"{share:.0%} of {'a typical' if is_typical else 'the'} step waits "
            "for input"
            + (f", which calls the Python function {', '.join(functions)}" if functions else ""),
            (_NO_PYTHON if functions else "")
            + "in the input's dataset(), decode in parallel (map with num_parallel_calls="
            "tf.data.AUTOTUNE), cache() before repeat() what does not change, or store smaller "
            "images; --overfit_batches 1 shows how quick the steps are with input from memory",
            "--overfit_batches",
            changes={_CACHE: "true"} if report.options.get(_CACHE) is False else {},
            probe=INPUT_PROBE,
        )


def _typical_input_share(report: Report) -> float:
    """Returns the median of the steps' shares that wait for input."""
    phases = [phase.ms_of_steps for phase in report.phases if phase.kind == INPUT]
    waits = map(sum, zip(*phases, strict=True))
    shares = [wait / ms for wait, ms in zip(waits, report.step.ms_of_steps, strict=False)]
    return statistics.median(shares or [0.0])


def host_operation(report: Report) -> Iterable[Hint]:
    """Finds Python functions, and other single operations that take much of the step."""
    has_gpu = any(is_gpu(use.device) for use in report.use)
    in_slow_clone = {operation.name for operation in _only_in_slow_clone(report)}
    for operation in report.operations:
        if operation.name in in_slow_clone:
            continue  # The hint of `slow_clone` names the operation.
        if operation.share >= _HOST_OPERATION and _is_suspect(operation, has_gpu):
            noun = "the Python function" if operation.kind == PYTHON else "the operation"
            where = "on the host, where it holds up the others" if has_gpu else "on the CPU"
            yield Hint(
                "host_operation",
                operation.share,
                operation.name,
                f"{noun} {operation.name} ({operation.type}) alone takes {operation.share:.0%} of "
                f"the step, {where}",
                "write it with TensorFlow's operations, move it to the input, which runs in "
                "parallel with the step, or see with --log_device_placement that it is on the "
                "right device",
                "--log_device_placement",
            )


def _is_suspect(operation: Operation, has_gpu: bool) -> bool:
    if not operation.type or operation.kind in (INPUT, COMMUNICATION, SUMMARY):
        return False
    if operation.kind == PYTHON or (has_gpu and not is_gpu(operation.device)):
        return True
    return operation.kind not in NUMERIC and operation.share >= _LONG_OPERATION


def few_threads(report: Report) -> Iterable[Hint]:
    """Finds options that let operations use fewer cores than the machine has."""
    threads = {name: report.options.get(name) or report.cores for name in _THREADS}
    few = {name: count for name, count in threads.items() if count < report.cores}
    computing = sum(phase.share for phase in report.phases if phase.kind in _COMPUTING)
    gain = computing * (1 - min(few.values(), default=report.cores) / report.cores)
    if gain >= _FEW_THREADS:
        options = " and ".join(f"--{name} {count}" for name, count in few.items())
        yield Hint(
            "few_threads",
            gain,
            "",
            f"{options} may leave cores idle: the machine has {report.cores}",
            "0 takes one thread for each core, unless other programs need the cores",
            f"--{next(iter(few))}",
            changes=dict.fromkeys(few, "0"),
        )


def layout_copies(report: Report) -> Iterable[Hint]:
    """Finds copies of tensors from one layout to another, such as NHWC to NCHW."""
    copies = [operation for operation in report.operations if operation.type == "Transpose"]
    share = sum(operation.share for operation in copies)
    if share >= _COPIES:
        other_layout = CHANNELS_LAST.get(str(report.options.get(LAYOUT)))
        yield Hint(
            "layout_copies",
            share,
            copies[0].name,
            f"copies of tensors to another layout (Transpose) take {share:.0%} of the step, the "
            f"longest is {copies[0].name}",
            "keep one layout from the input to the loss: on a CPU that with the channels last",
            f"--{LAYOUT}" if other_layout else "",
            changes={LAYOUT: other_layout} if other_layout else {},
        )


def memory_hog(report: Report) -> Iterable[Hint]:
    """Finds an operation that owns most of the memory."""
    shares = {operation.name: operation.share for operation in report.operations}
    for row in report.memory:
        for owner in row.owners[:1]:
            if owner.share >= _MEMORY and owner.bytes >= _MEMORY_BYTES:
                yield Hint(
                    "memory_hog",
                    shares.get(owner.name, 0.0),
                    owner.name,
                    f"the operation {owner.name} owns {readable_bytes(owner.bytes)}, which is "
                    f"{owner.share:.0%} of the memory of {row.device} at its peak",
                    "compute it in parts, or with fewer examples at a time: a smaller "
                    "--train_batch_size, with --transform accumulate for the same batch; "
                    "--recompute SCOPE keeps less of the layers before the gradients",
                    "--train_batch_size",
                )


def slow_clone(report: Report) -> Iterable[Hint]:
    """Finds a clone that the other clones wait for."""
    slow = _slowest(report)
    if slow is not None:
        clone, gain = slow
        longest = _only_in_slow_clone(report)[:1]
        cause = "".join(f", most of it for {operation.name}" for operation in longest)
        yield Hint(
            "slow_clone",
            gain,
            clone.name,
            f"the clones wait for {clone.name}, {gain:.0%} of the step: it computes "
            f"{clone.active_ms:.1f} ms{cause}",
            "give all clones the same work, and devices of the same speed with --gpus; "
            "--num_clones 1 shows the step without the others",
            "--num_clones",
            probe={"num_clones": "1"},
        )


def _slowest(report: Report) -> tuple[CloneRow, float] | None:
    """The clone that the other clones wait for, and their waiting as a part of the step."""
    clones = sorted((row for row in report.clones if row.name), key=lambda row: row.active_ms)
    if len(clones) < 2:
        return None
    clone, second = clones[-1], clones[-2]
    # A clone that only began later, because it had to wait for a core, is not slow.
    waited = min(row.wait_ms for row in clones[:-1]) - clone.wait_ms
    gain = min(waited, clone.active_ms - second.active_ms) / report.step.mean_ms
    return (clone, gain) if gain >= _CLONE else None


def _only_in_slow_clone(report: Report) -> list[Operation]:
    """Long operations of the slow clone that other clones do not have, or compute much faster."""
    slow = _slowest(report)
    if slow is None:
        return []
    elsewhere: dict[str, float] = {}
    for operation in report.operations:
        if operation.clone and operation.clone != slow[0].name:
            key = _without_clone(operation)
            elsewhere[key] = max(operation.busy_ms, elsewhere.get(key, 0.0))
    return [
        operation
        for operation in report.operations
        if operation.clone == slow[0].name
        and operation.share >= _HOST_OPERATION
        and operation.busy_ms > _TWIN * elsewhere.get(_without_clone(operation), 0.0)
    ]


def _without_clone(operation: Operation) -> str:
    return "/".join(part for part in operation.name.split("/") if part != operation.clone)


def serial_updates(report: Report) -> Iterable[Hint]:
    """Finds updates of batch norm's averages that run one after the other."""
    updates = [
        operation
        for operation in report.operations
        if operation.kind == BATCH_NORM and "AssignMovingAvg" in operation.name
    ]
    ms = sum(operation.ms for operation in updates)
    gain = ms * (1 - 1 / max(1, report.cores)) / report.step.mean_ms
    alone = sum(operation.busy_ms for operation in updates) < _TOGETHER * ms
    if gain >= _SERIAL and alone:
        several = len({operation.clone for operation in updates}) > 1
        option = "--update_ops" if several else "--inter_op_threads"
        yield Hint(
            "serial_batch_norm_updates",
            gain,
            "",
            f"the updates of batch norm's moving averages run one after the other, "
            f"{ms / report.step.mean_ms:.0%} of the step",
            "run the updates of one clone only (--update_ops first_clone)"
            if several
            else "leave updates_collections of the layers at UPDATE_OPS, so that they run in "
            "parallel with the gradients, and --inter_op_threads at 0, one for each core",
            option,
            changes={"update_ops": "first_clone"} if several else {},
        )


def small_steps(report: Report) -> Iterable[Hint]:
    """Finds steps that take less time than starting them."""
    ms = sum(phase.ms for phase in report.phases if phase.kind in (OVERHEAD, LOOP))
    ms += min(_READY_MS, sum(phase.ms for phase in report.phases if phase.kind == INPUT))
    recording = _RECORDING_MS * sum(row.count for row in report.kinds)
    ms -= recording
    share = ms / max(report.step.mean_ms - recording, ms, 1e-6)
    if share >= _SMALL and report.step.median_ms <= _SMALL_MS:
        gain = share * (1 - 1 / _LOOP)
        yield Hint(
            "small_steps",
            gain,
            "",
            f"the steps are so small that {share:.0%} of their time is spent on starting them",
            f"--steps_per_loop {_LOOP} makes {_LOOP} steps in one session call; a larger "
            "--train_batch_size does more in each",
            "--steps_per_loop",
            changes={"steps_per_loop": str(_LOOP)},
        )
