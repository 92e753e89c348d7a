"""Makes a report of recorded steps."""

from __future__ import annotations

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Sequence

from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.report import device_tables, operation_tables
from tf_frame.profiling.report.contents import (
    COMMUNICATION,
    INPUT,
    VERSION,
    HookRow,
    Operation,
    Phase,
    Report,
    TaskRow,
)
from tf_frame.profiling.report.hints import find_hints
from tf_frame.profiling.report.operation_kinds import OTHER
from tf_frame.profiling.report.step_phases import (
    AttributedSteps,
    attribute_steps,
    operations,
    phases,
    step_times,
)
from tf_frame.profiling.step_profile import HOOK, HOOK_KINDS, HookCost, StepProfile

# Rows of `operations`; a training step of a large model has thousands, most of microseconds.
_OPERATIONS = 300
# A straggler computes this much longer than the other tasks. Equal tasks on one machine differ by
# a tenth.
_STRAGGLER = 1.2


def build_report(
    profiles: Sequence[StepProfile],
    *,
    run: str = "",
    task: str | None = None,
    max_operations: int | None = _OPERATIONS,
) -> Report:
    """Makes the report of one task of a run.

    Args:
      profiles, run: records of all tasks, and the name of their folder.
      task: such as `worker_0`; None: the first by name that has steps.
      max_operations: rows of `operations`; None: all.

    Raises:
      DataError: no task has recorded a step.
      ConfigError: there is no such task, or it has recorded no step.
    """
    recorded = sorted((p for p in profiles if p.steps), key=lambda profile: profile.task)
    if not recorded:
        raise DataError(
            f"the profile {run} has no steps; record some with tf-frame profile, or with "
            "--profile_at_step before the last step"
        )
    tasks = {profile.task: attribute_steps(profile) for profile in recorded}
    if task is not None and task not in tasks:
        raise ConfigError(
            f"--task {task}: the profile {run} has no steps of it; it has {', '.join(tasks)}"
        )
    report = _task_report(tasks[task or recorded[0].task], run)
    return dataclasses.replace(
        report,
        operations=_first(report.operations, max_operations),
        tasks=_task_rows(list(tasks.values())),
        hints=find_hints(report),
    )


def _task_report(steps: AttributedSteps, run: str) -> Report:
    profile, times, step_phases = steps.profile, step_times(steps), phases(steps)
    ops = operation_tables.add_flops(operations(steps), profile.costs)
    ops = operation_tables.add_work(ops, profile)
    examples = profile.examples_per_step
    return Report(
        version=VERSION,
        run=run,
        model=profile.model,
        task=profile.task,
        host=profile.host,
        cores=profile.cores,
        first_step=profile.steps[0].number,
        last_step=profile.steps[-1].number,
        examples_per_step=examples,
        examples_per_sec=examples / times.median_ms * 1e3 if examples else None,
        step=times,
        profiler_ms=steps.profiler_ms,
        phases=step_phases,
        input_share=sum(phase.share for phase in step_phases if phase.kind == INPUT),
        operations_ms=sum(operation.ms for operation in ops),
        kinds=operation_tables.group_rows(ops, lambda operation: operation.kind),
        types=operation_tables.group_rows(ops, lambda operation: operation.type),
        layers=operation_tables.layer_rows(ops, profile.costs),
        clones=operation_tables.clone_rows(ops, steps),
        operations=tuple(ops),
        memory=device_tables.memory_rows(steps),
        costs=operation_tables.scope_rows(ops, profile.costs, steps.mean_ms),
        hooks=_hook_rows(step_phases, profile.hooks, times.mean_ms),
        tasks=(),
        use=device_tables.device_use(steps),
        hints=(),
        python_functions=tuple(profile.python_functions),
        options=profile.options,
    )


def _first(ops: Sequence[Operation], count: int | None) -> tuple[Operation, ...]:
    """The first operations, and one row for all further operations together."""
    if count is None or len(ops) <= count:
        return tuple(ops)
    (remaining,) = operation_tables.group_rows(ops[count:], lambda operation: "(others)")
    fields = operation_tables.row_fields(remaining)
    return (*ops[:count], Operation(**fields, type="", kind=OTHER, layer="", clone="", device=""))


def _hook_rows(
    step_phases: Sequence[Phase], costs: Sequence[HookCost], mean_ms: float
) -> tuple[HookRow, ...]:
    """A row for each hook, by falling time; hooks of one class are added up."""
    hooks = {(phase.kind, phase.name): phase for phase in step_phases if phase.kind in HOOK_KINDS}
    names = dict.fromkeys([*hooks, *((cost.kind, cost.name) for cost in costs)])
    rows = [
        _hook_row(*name, hooks.get(name), [c for c in costs if (c.kind, c.name) == name], mean_ms)
        for name in names
    ]
    return tuple(sorted(rows, key=lambda row: (-max(row.ms, row.run_ms or 0), row.name)))


def _hook_row(
    kind: str, name: str, phase: Phase | None, costs: Sequence[HookCost], mean_ms: float
) -> HookRow:
    per_step = [
        cost.secs / cost.calls / cost.every_steps * 1e3
        for cost in costs
        if cost.calls and cost.every_steps
    ]
    run_ms = sum(per_step) if per_step else None
    return HookRow(
        name=name,
        kind=kind,
        ms=phase.ms if phase else 0.0,
        share=phase.share if phase else 0.0,
        run_ms=run_ms,
        run_share=run_ms / mean_ms if run_ms is not None else None,
        calls=sum(cost.calls for cost in costs) if costs else None,
        every_steps=min((c.every_steps for c in costs if c.every_steps), default=None),
        asynchronous=any(cost.asynchronous for cost in costs),
        option=next((cost.option for cost in costs if cost.option), ""),
    )


def _task_rows(tasks: Sequence[AttributedSteps]) -> tuple[TaskRow, ...]:
    """A row for each task; a straggler computes longer than the median of the other tasks."""
    rows = [_task_row(steps) for steps in tasks]
    computing = [row.median_ms * (1 - row.shares.get(COMMUNICATION, 0)) for row in rows]

    def is_straggler(index: int) -> bool:
        other_tasks = computing[:index] + computing[index + 1 :]
        return bool(other_tasks) and computing[index] > _STRAGGLER * statistics.median(other_tasks)

    return tuple(
        dataclasses.replace(row, straggler=is_straggler(index)) for index, row in enumerate(rows)
    )


def _task_row(steps: AttributedSteps) -> TaskRow:
    shares: defaultdict[str, float] = defaultdict(float)
    for phase in phases(steps):
        shares[HOOK if phase.kind in HOOK_KINDS else phase.kind] += phase.share
    times = step_times(steps)
    return TaskRow(
        task=steps.profile.task,
        host=steps.profile.host,
        steps=len(steps.walls),
        median_ms=times.median_ms,
        p90_ms=times.p90_ms,
        shares=dict(shares),
        straggler=False,
    )
