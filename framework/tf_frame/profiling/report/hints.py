"""The commonest causes of slow steps, found in the figures of a report, with what would help.

Each function looks for one cause and returns its hints, none for a healthy profile. The gain is
the part of the step that would be saved at most; a hint below its threshold is left out, for
noise of the machine is as large.
"""

from __future__ import annotations

from collections.abc import Iterable

from tf_frame.profiling.report.figures import (
    LOOP,
    OVERHEAD,
    Hint,
    HookRow,
    Operation,
    Report,
)
from tf_frame.profiling.report.kinds import (
    BATCH_NORM,
    COMMUNICATION,
    INPUT,
    NUMERIC,
    PYTHON,
    SUMMARY as SUMMARY_KIND,
)
from tf_frame.profiling.report.scopes import is_gpu
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, SUMMARY
from tf_frame.text import readable_bytes

# Between the 5 % from which xprof calls a step moderately input-bound, and the 20 % from which
# highly (xprof/convert/op_stats_to_input_pipeline_analysis.cc): taking a batch that is ready is
# a few percent of a small step.
_INPUT = 0.1
# A few times what the default hooks of a small model take together.
_HOOK = 0.05
# Shorter calls are the price of Python; `small_steps` names what helps against many of them.
_HOOK_MS = 0.5
# The first call of a hook is often slow; fewer than these say little of the others.
_CALLS = 3
# One operation of many; convolutions of a layer often take a tenth, and are not named.
_HOST_OPERATION = 0.1
# Operations such as gathers are work of the model as well; only a very large one is a cause.
_LONG_OPERATION = 0.2
# Half of the peak, and more than all activations of a small model: 72 MiB for ResNet-50 with 8
# images of 64 x 64.
_MEMORY, _MEMORY_BYTES = 0.5, 100 * 2**20
# Equal clones that share cores end some percent apart.
_CLONE = 0.15
# Summaries this often are many more than anybody looks at: tf.estimator writes every 100 steps
# (RunConfig.save_summary_steps).
_SUMMARY_STEPS, _SUMMARY = 10, 0.02
_CHECKPOINT = 0.05
_SERIAL, _TOGETHER = 0.05, 1.4
# A session call costs about 0.2 ms, a hook some microseconds; from here on it is worth a loop.
_SMALL, _SMALL_MS = 0.3, 20.0
# Recording an operation takes about 5 microseconds of the session call, which other steps do not
# have: 4.7 per operation with TensorFlow 2.21 and a graph of 1000 operations.
_RECORDING_MS = 0.005
_LOOP = 10

# Class of a hook -> the option that makes it run less often.
_OPTIONS = {
    "EvaluateHook": "--eval_every_n_steps",
    "LoggingHook": "--log_every_n_steps",
    "ThroughputHook": "--log_every_n_steps",
    "TimelineHook": "--trace_every_n_steps",
}


def hints(report: Report) -> tuple[Hint, ...]:
    """Returns the hints for a report, the largest gain first."""
    found = [hint for cause in _CAUSES for hint in cause(report)]
    return tuple(sorted(found, key=lambda hint: -hint.severity))


def _slow_input(report: Report) -> Iterable[Hint]:
    share = report.input_share
    if share >= _INPUT:
        yield Hint(
            "slow_input",
            share,
            "",
            f"{share:.0%} of the step waits for input",
            "in the input's dataset(), decode in parallel (map with num_parallel_calls="
            "tf.data.AUTOTUNE), cache() what does not change, or store smaller images; "
            "--overfit_batches 10 shows how quick the steps are with input from memory",
            "--overfit_batches",
        )


def _slow_hook(report: Report) -> Iterable[Hint]:
    for row in report.hooks:
        share, ms = _cost(row, report)
        if row.kind == HOOK and share >= _HOOK and ms >= _HOOK_MS:
            option = _OPTIONS.get(row.name, "")
            remedy = f"a larger {option}" if option else "a cadence with fewer steps"
            yield Hint(
                "slow_hook",
                min(share, 1.0),
                row.name,
                f"the hook {row.name} takes {share:.0%} of the time per step ({ms:.1f} ms)",
                f"let it run less often ({remedy}), or do less in it",
                option,
            )


def _cost(row: HookRow, report: Report) -> tuple[float, float]:
    """Share and milliseconds per step of a hook: the lower ones of the recorded steps and the run.

    A rare hook may have hit a recorded step; and a run that is still short is charged with the
    hook's first call, which is slow.
    """
    of_run = (row.run_share or 0.0, row.run_ms or 0.0)
    recorded = _recorded_calls(row, report)
    if row.run_share is None:
        return (row.share, row.ms) if recorded > 1 else (0.0, 0.0)
    if recorded:
        return min(of_run, (row.share, row.ms))
    return of_run if (row.calls or 0) >= _CALLS else (0.0, 0.0)


def _recorded_calls(row: HookRow, report: Report) -> int:
    """Number of recorded steps in which a hook ran."""
    phases = [p for p in report.phases if (p.kind, p.name) == (row.kind, row.name)]
    return sum(ms > 0 for phase in phases for ms in phase.ms_of_steps)


def _checkpoints(report: Report) -> Iterable[Hint]:
    for row in report.hooks:
        share = min(_cost(row, report)[0], 1.0)
        # Without a second one nobody knows how often they are written.
        if row.kind == CHECKPOINT and share >= _CHECKPOINT and row.every_steps:
            yield Hint(
                "frequent_checkpoints",
                share,
                row.name,
                f"checkpoints every {row.every_steps:.0f} steps take {share:.0%} of the time",
                "save less often with --save_checkpoint_steps or --save_checkpoint_secs, or in "
                "the background with --async_checkpoint",
                "--save_checkpoint_steps",
            )


def _summaries(report: Report) -> Iterable[Hint]:
    rows = [row for row in report.hooks if row.kind == SUMMARY and _is_frequent(row, report)]
    computing = sum(row.ms for row in report.kinds if row.name == SUMMARY_KIND)
    share = sum(row.share for row in rows) + computing / report.step.mean_ms
    if rows and share >= _SUMMARY:
        yield Hint(
            "summaries_every_step",
            share,
            rows[0].name,
            f"summaries are written at almost every step, which takes {share:.0%} of it",
            "write them every 100 steps: --save_summaries_steps 100",
            "--save_summaries_steps",
        )


def _is_frequent(row: HookRow, report: Report) -> bool:
    if row.every_steps is not None:
        return row.every_steps <= _SUMMARY_STEPS
    recorded = _recorded_calls(row, report)
    return recorded > 1 and recorded > len(report.step.ms_of_steps) / 2


def _host_operation(report: Report) -> Iterable[Hint]:
    has_gpu = any(is_gpu(use.device) for use in report.use)
    for operation in report.operations:
        if operation.share >= _HOST_OPERATION and _is_suspect(operation, has_gpu):
            what = "the Python function" if operation.kind == PYTHON else "the operation"
            where = "on the host, where it holds up the others" if has_gpu else "on the CPU"
            yield Hint(
                "host_operation",
                operation.share,
                operation.name,
                f"{what} {operation.name} ({operation.type}) alone takes {operation.share:.0%} of "
                f"the step, {where}",
                "write it with TensorFlow's operations, move it to the input, where it runs beside "
                "the step, or see with --log_device_placement that it is on the right device",
                "--log_device_placement",
            )


def _is_suspect(operation: Operation, has_gpu: bool) -> bool:
    if not operation.type or operation.kind in (INPUT, COMMUNICATION, SUMMARY_KIND):
        return False
    if operation.kind == PYTHON or (has_gpu and not is_gpu(operation.device)):
        return True
    return operation.kind not in NUMERIC and operation.share >= _LONG_OPERATION


def _memory_hog(report: Report) -> Iterable[Hint]:
    seconds = {operation.name: operation.share for operation in report.operations}
    for row in report.memory:
        for owner in row.owners[:1]:
            if owner.share >= _MEMORY and owner.bytes >= _MEMORY_BYTES:
                yield Hint(
                    "memory_hog",
                    seconds.get(owner.name, 0.0),
                    owner.name,
                    f"the operation {owner.name} owns {readable_bytes(owner.bytes)}, which is "
                    f"{owner.share:.0%} of the memory of {row.device} at its peak",
                    "compute it in parts, or with fewer examples at a time: a smaller "
                    "--train_batch_size, with --transform accumulate for the same batch",
                    "--train_batch_size",
                )


def _slow_clone(report: Report) -> Iterable[Hint]:
    clones = sorted((row for row in report.clones if row.name), key=lambda row: row.active_ms)
    if len(clones) < 2:
        return
    slowest, next_ = clones[-1], clones[-2]
    # A clone that only began later, because it had to wait for a core, is not slow.
    waited = min(row.wait_ms for row in clones[:-1]) - slowest.wait_ms
    gain = min(waited, slowest.active_ms - next_.active_ms) / report.step.mean_ms
    if gain >= _CLONE:
        yield Hint(
            "slow_clone",
            gain,
            slowest.name,
            f"the clones wait for {slowest.name}: {gain:.0%} of the step; it computes "
            f"{slowest.active_ms:.1f} ms, the others at most {next_.active_ms:.1f} ms",
            "give all clones the same work, and devices of the same speed with --gpus; "
            "--num_clones 1 shows the step without the others",
            "--num_clones",
        )


def _serial_updates(report: Report) -> Iterable[Hint]:
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
            "run those of one clone only (--update_ops first_clone)"
            if several
            else "leave updates_collections of the layers at UPDATE_OPS, so that they run beside "
            "the gradients, and --inter_op_threads at 0, one for each core",
            option,
        )


def _small_steps(report: Report) -> Iterable[Hint]:
    ms = sum(phase.ms for phase in report.phases if phase.kind in (OVERHEAD, LOOP))
    recording = _RECORDING_MS * sum(row.count for row in report.kinds)
    share = (ms - recording) / max(report.step.mean_ms - recording, ms, 1e-6)
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
        )


_CAUSES = (
    _slow_input,
    _slow_hook,
    _checkpoints,
    _summaries,
    _host_operation,
    _memory_hog,
    _slow_clone,
    _serial_updates,
    _small_steps,
)
