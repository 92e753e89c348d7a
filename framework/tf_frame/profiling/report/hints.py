"""Finds the most common causes of slow steps in a report, and returns hints with remedies.

A function for each cause yields the hints; for a healthy profile it yields none. The gain of a hint
is the most time that the remedy can save, as a share of the step. Each cause has a threshold: a
smaller gain counts as noise and yields no hint. This module checks the hooks of a run;
`graph_hints` checks the graph.
"""

from __future__ import annotations

from collections.abc import Iterable

from tf_frame.profiling.report import graph_hints
from tf_frame.profiling.report.contents import Hint, HookRow, Report
from tf_frame.profiling.report.operation_kinds import SUMMARY as SUMMARY_KIND
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, PROFILER, SUMMARY

# A few times the cost of all default hooks of a small model.
_HOOK = 0.05
# Shorter calls are the price of Python; if they are many, several steps per call help.
_HOOK_MS = 0.5
# The first call of a hook is often slow; fewer calls than these say little of later calls.
_CALLS = 3
# Nobody looks at so many summaries: tf.estimator writes them every 100 steps
# (RunConfig.save_summary_steps).
_SUMMARY_STEPS, _SUMMARY = 10, 0.01
_CHECKPOINT = 0.05
# Suffix of options that set the number of steps between two calls of a hook.
_STEPS_BETWEEN_CALLS = "_every_n_steps"
_HOOK_OPTION = "--hook "
# Times the steps between two calls of a slow hook.
_LONGER = 10
# Seconds between checkpoints that no training notices: the default.
_CHECKPOINT_SECS = "600"


def slow_hook(report: Report) -> Iterable[Hint]:
    """Finds hooks that take a large part of the step, other than checkpoints and summaries."""
    for row in report.hooks:
        share, ms = _cost(row, report)
        is_other = row.kind == HOOK and row.name != PROFILER
        if is_other and share >= _HOOK and ms >= _HOOK_MS:
            option = row.option if row.option.endswith(_STEPS_BETWEEN_CALLS) else ""
            changes, probe = _hook_changes(row, report)
            remedy = f"a larger {option}" if option else "a cadence with fewer steps"
            yield Hint(
                "slow_hook",
                min(share, 1.0),
                row.name,
                f"the hook {row.name} takes {_cost_text(row, report)}",
                f"let it run less often ({remedy}), or do less in it",
                option,
                changes=changes,
                probe=probe,
            )


def _hook_changes(row: HookRow, report: Report) -> tuple[dict[str, str], dict[str, str]]:
    """Returns a longer cadence of a hook, or the run without a hook of `--hook`, if it is one."""
    if row.option.endswith(_STEPS_BETWEEN_CALLS):
        return {row.option.removeprefix("--"): f"{_LONGER * (row.every_steps or 1):.0f}"}, {}
    name = row.option.removeprefix(_HOOK_OPTION)
    hooks = report.options.get("hook", ())
    if row.option.startswith(_HOOK_OPTION) and name in hooks:
        return {}, {"hook": ",".join(other for other in hooks if other != name)}
    return {}, {}


def _cost(row: HookRow, report: Report) -> tuple[float, float]:
    """Share and milliseconds per step of a hook, in the recorded steps or the run: the lower cost.

    A rare hook may have hit a recorded step; and a run that is still short is charged with the
    hook's first call, which is slow.
    """
    run_cost = (row.run_share or 0.0, row.run_ms or 0.0)
    recorded = _recorded_calls(row, report)
    if row.run_share is None:
        return (row.share, row.ms) if recorded > 1 else (0.0, 0.0)
    if recorded:
        return min(run_cost, (row.share, row.ms))
    return run_cost if (row.calls or 0) >= _CALLS else (0.0, 0.0)


def _cost_text(row: HookRow, report: Report) -> str:
    """Both costs, the relevant cost first: the phases show only the cost of the recorded steps."""
    share, ms = _cost(row, report)
    recorded, run = "in the recorded steps", "over the whole run"
    if row.run_share is None or row.run_ms is None:
        return f"{share:.0%} of the step ({ms:.1f} ms {recorded})"
    places = [(row.share, row.ms, recorded), (row.run_share, row.run_ms, run)]
    if (share, ms) != (row.share, row.ms):
        places.reverse()
    (_, _, place), (second_share, second_ms, second_place) = places
    second = f"{second_place} {second_share:.0%}, {second_ms:.1f} ms"
    return f"{share:.0%} of the step ({ms:.1f} ms {place}; {second})"


def _recorded_calls(row: HookRow, report: Report) -> int:
    """Number of recorded steps with a call of a hook."""
    phases = [p for p in report.phases if (p.kind, p.name) == (row.kind, row.name)]
    return sum(ms > 0 for phase in phases for ms in phase.ms_of_steps)


def checkpoints(report: Report) -> Iterable[Hint]:
    """Finds checkpoints that take a large part of the run."""
    for row in report.hooks:
        share = min(_cost(row, report)[0], 1.0)
        # If another thread writes, the hook still copies the variables.
        background = "" if row.asynchronous else ", or in the background with --async_checkpoint"
        # Without a second checkpoint, their cadence is unknown.
        if row.kind == CHECKPOINT and share >= _CHECKPOINT and row.every_steps:
            yield Hint(
                "frequent_checkpoints",
                share,
                row.name,
                f"checkpoints {_cadence(row.every_steps)} take {_cost_text(row, report)}",
                "save less often with --save_checkpoint_steps or --save_checkpoint_secs"
                f"{background}",
                "--save_checkpoint_steps",
                changes={"save_checkpoint_secs": _CHECKPOINT_SECS},
            )


def _cadence(every_steps: float) -> str:
    return "at every step" if round(every_steps) <= 1 else f"every {every_steps:.0f} steps"


def summaries(report: Report) -> Iterable[Hint]:
    """Finds summaries at almost every step, which take time to compute and to write."""
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
            changes={"save_summaries_steps": "100"},
        )


def _is_frequent(row: HookRow, report: Report) -> bool:
    if row.every_steps is not None:
        return row.every_steps <= _SUMMARY_STEPS
    recorded = _recorded_calls(row, report)
    return recorded > 1 and recorded > len(report.step.ms_of_steps) / 2


# Of two hints with the same gain, the first one says more.
_CAUSES = (
    graph_hints.slow_input,
    slow_hook,
    checkpoints,
    summaries,
    graph_hints.few_threads,
    graph_hints.layout_copies,
    graph_hints.memory_hog,
    graph_hints.slow_clone,
    graph_hints.host_operation,
    graph_hints.serial_updates,
    graph_hints.small_steps,
)


def find_hints(report: Report) -> tuple[Hint, ...]:
    """Returns the hints for a report, the largest gain first."""
    hints = [hint for cause in _CAUSES for hint in cause(report)]
    return tuple(sorted(hints, key=lambda hint: -hint.severity))
