"""The table of hooks: their time in the recorded steps, and per step of the whole run."""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame.profiling.report.figures import HookRow, Phase
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, SUMMARY, HookCost

KINDS = (HOOK, CHECKPOINT, SUMMARY)


def hook_rows(
    found: Sequence[Phase], costs: Sequence[HookCost], mean_ms: float
) -> tuple[HookRow, ...]:
    """A row for each hook, by falling time; hooks of one class are added up.

    Args:
      found: phases of the recorded steps.
      costs: of the whole run.
      mean_ms: of the recorded steps.
    """
    phases = {(phase.kind, phase.name): phase for phase in found if phase.kind in KINDS}
    names = dict.fromkeys([*phases, *((cost.kind, cost.name) for cost in costs)])
    rows = [
        _row(*name, phases.get(name), [c for c in costs if (c.kind, c.name) == name], mean_ms)
        for name in names
    ]
    return tuple(sorted(rows, key=lambda row: (-max(row.ms, row.run_ms or 0), row.name)))


def _row(
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
    )
