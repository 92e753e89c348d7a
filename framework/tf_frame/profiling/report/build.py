"""Makes a report of recorded steps."""

from __future__ import annotations

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Sequence

from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.report import devices, rows
from tf_frame.profiling.report.figures import (
    COMMUNICATION,
    INPUT,
    VERSION,
    Operation,
    Report,
    TaskRow,
)
from tf_frame.profiling.report.hints import hints
from tf_frame.profiling.report.hooks import KINDS, hook_rows
from tf_frame.profiling.report.kinds import OTHER
from tf_frame.profiling.report.step_phases import (
    DividedSteps,
    divide_steps,
    operations,
    phases,
    step_times,
)
from tf_frame.profiling.step_profile import HOOK, StepProfile

# Rows of `operations`; a training step of a large model has thousands, most of microseconds.
_OPERATIONS = 300
# A task is a straggler if it computes this much longer than the others. Equal tasks on one
# machine differ by a tenth.
_STRAGGLER = 1.2


def build(
    profiles: Sequence[StepProfile],
    *,
    run: str = "",
    task: str | None = None,
    max_operations: int | None = _OPERATIONS,
) -> Report:
    """Makes the report of one task of a run.

    Args:
      profiles: of all tasks.
      run: name of the run folder.
      task: such as `worker_0`; None: the first by name that has steps.
      max_operations: rows of `operations`; None: all.

    Raises:
      DataError: no task has recorded a step.
      ConfigError: there is no such task, or it has recorded no step.
    """
    recorded = sorted((each for each in profiles if each.steps), key=lambda each: each.task)
    if not recorded:
        raise DataError(
            f"the profile {run} has no steps; record some with tf-frame profile, or with "
            "--profile_at_step before the last step"
        )
    divided = {each.task: divide_steps(each) for each in recorded}
    if task is not None and task not in divided:
        raise ConfigError(
            f"--task {task}: the profile {run} has no steps of it; it has {', '.join(divided)}"
        )
    report = _of_task(divided[task or recorded[0].task], run)
    return dataclasses.replace(
        report,
        operations=_first(report.operations, max_operations),
        tasks=_task_rows(list(divided.values())),
        hints=hints(report),
    )


def _of_task(steps: DividedSteps, run: str) -> Report:
    profile, times, found = steps.profile, step_times(steps), phases(steps)
    every = rows.with_flops(operations(steps), profile.costs)
    examples = profile.examples_per_step
    return Report(
        version=VERSION,
        run=run,
        task=profile.task,
        host=profile.host,
        cores=profile.cores,
        first_step=profile.steps[0].number,
        last_step=profile.steps[-1].number,
        examples_per_step=examples,
        examples_per_sec=examples / times.median_ms * 1e3 if examples else None,
        step=times,
        profiler_ms=steps.profiler_ms,
        phases=found,
        input_share=sum(phase.share for phase in found if phase.kind == INPUT),
        operations_ms=sum(each.ms for each in every),
        kinds=rows.grouped(every, lambda operation: operation.kind),
        types=rows.grouped(every, lambda operation: operation.type),
        layers=rows.layers(every, profile.costs),
        clones=rows.clones(every, steps),
        operations=tuple(every),
        memory=devices.memory(steps),
        costs=rows.scopes(every, profile.costs, steps.mean_ms),
        hooks=hook_rows(found, profile.hooks, times.mean_ms),
        tasks=(),
        use=devices.use(steps),
        hints=(),
    )


def _first(every: Sequence[Operation], count: int | None) -> tuple[Operation, ...]:
    """The first operations, and a row for all others together."""
    if count is None or len(every) <= count:
        return tuple(every)
    (others,) = rows.grouped(every[count:], lambda operation: "(others)")
    row = Operation(**rows.fields_of(others), type="", kind=OTHER, layer="", clone="", device="")
    return (*every[:count], row)


def _task_rows(divided: Sequence[DividedSteps]) -> tuple[TaskRow, ...]:
    """A row for each task; a straggler computes longer than the median of the others."""
    found = [_task_row(steps) for steps in divided]
    own = [row.median_ms * (1 - row.shares.get(COMMUNICATION, 0)) for row in found]

    def is_straggler(index: int) -> bool:
        others = own[:index] + own[index + 1 :]
        return bool(others) and own[index] > _STRAGGLER * statistics.median(others)

    return tuple(
        dataclasses.replace(row, straggler=is_straggler(index)) for index, row in enumerate(found)
    )


def _task_row(steps: DividedSteps) -> TaskRow:
    shares: defaultdict[str, float] = defaultdict(float)
    for phase in phases(steps):
        shares[HOOK if phase.kind in KINDS else phase.kind] += phase.share
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
