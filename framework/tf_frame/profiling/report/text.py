"""The text of a report for a terminal: 100 columns, for readers who never used a profiler."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tf_frame.profiling.operation_names import is_gpu
from tf_frame.profiling.report import text_tables
from tf_frame.profiling.report.contents import INPUT, TOGETHER, Phase, Report, Row
from tf_frame.profiling.report.graph_hints import SLOW_INPUT
from tf_frame.profiling.report.operation_kinds import INPUT as INPUT_KIND
from tf_frame.profiling.report.proofs import proof_text
from tf_frame.profiling.report.step_phases import PHASE_LABELS
from tf_frame.profiling.step_profile import HOOK_KINDS

_WIDTH, _LABEL, _BAR = 100, 44, 30
# Parts below this are added up in one line.
_SMALL = 0.005
# Rows of the tables behind the summary.
_ROWS = 10
_HOOKS = "hooks"
_TABLES = (
    text_tables.operations,
    text_tables.layers,
    text_tables.clones,
    text_tables.tasks,
    text_tables.hooks,
    text_tables.memory,
    text_tables.use,
    text_tables.costs,
)


def format_report(report: Report, by: str | None = None) -> str:
    """Returns the text; with `by`, the step time and one of `text_tables.TABLES`, all rows."""
    if by is not None:
        table = text_tables.TABLES[by](report, None)
        return f"{_headline(report)}\n\n{table or f'Nothing is recorded by {by}.'}"
    parts = [
        _headline(report),
        _spread(report),
        "",
        *_section(f"Where the time goes (mean step: {report.step.mean_ms:.1f} ms)", _where(report)),
        *_section("What would help", _hints(report)),
        *_section(
            "What the operations do, forward and backward (shares of the mean step)", _kinds(report)
        ),
    ]
    for make_table in _TABLES:
        table = make_table(report, _ROWS)
        parts += [table, ""] if table else []
    return "\n".join(parts).rstrip()


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *lines, ""] if lines else []


def _headline(report: Report) -> str:
    """The first line, such as `A step takes 86.5 ms (median), which is 370 examples/s.`."""
    step = report.step
    speed = report.examples_per_sec
    per_sec = f", which is {speed:.4g} examples/s" if speed else ""
    return f"A step takes {step.median_ms:.1f} ms (median){per_sec}."


def _spread(report: Report) -> str:
    """The recorded steps, and how their times spread, in words and as small bars."""
    step, count = report.step, len(report.step.ms_of_steps)
    if count == 1:
        return f"{_origin(report)}: only step {report.last_step}, so the spread is unknown."
    picture = text_tables.bars([bin.steps for bin in step.histogram])
    return (
        f"{_origin(report)}: {count} steps, {report.first_step} to {report.last_step}.\n"
        f"One in ten takes more than {step.p90_ms:.1f} ms; the mean is {step.mean_ms:.1f} ms "
        f"± {step.jitter_ms:.1f} ms.\n"
        f"{min(step.ms_of_steps):.1f} ms |{picture}| {max(step.ms_of_steps):.1f} ms"
    )


def _origin(report: Report) -> str:
    return f"{report.task} on {report.host}, {report.cores} cores"


def _where(report: Report) -> list[str]:
    """A bar for each phase; all hooks share one bar, with the large hooks below."""
    hooks = [phase for phase in report.phases if phase.kind in HOOK_KINDS]
    compute = [phase for phase in report.phases if phase.kind not in HOOK_KINDS]
    parts = {phase.label: [phase] for phase in compute}
    # Input and hooks have a line even if they take no time.
    parts |= {PHASE_LABELS[INPUT]: [p for p in compute if p.kind == INPUT], _HOOKS: hooks}
    lines: list[str] = []
    for label, phases in sorted(parts.items(), key=lambda part: -sum(p.ms for p in part[1])):
        lines.append(_bar(label, *_sum(phases)))
        if label == _HOOKS:
            lines += [_bar(f"- {p.label}", p.ms, p.share) for p in hooks if p.share >= _SMALL]
    if report.profiler_ms:
        lines.append(
            f"  (and {report.profiler_ms:.2f} ms a step for recording, which are left out here)"
        )
    return lines


def _sum(rows: Sequence[Phase | Row]) -> tuple[float, float]:
    return sum(row.ms for row in rows), sum(row.share for row in rows)


def _kinds(report: Report) -> list[str]:
    """A bar for each kind of operations; small kinds share one bar."""
    labels = {INPUT_KIND: "input (waiting for it, and preparing it)"}
    small = [row for row in report.kinds if row.share < _SMALL]
    large = [row for row in report.kinds if row.share >= _SMALL]
    lines = [_bar(labels.get(row.name, row.name), row.ms, row.share) for row in large]
    return [*lines, _bar("all others", *_sum(small))] if small else lines


def _bar(label: str, ms: float, share: float) -> str:
    filled = "█" * round(min(share, 1) * _BAR)
    return f"  {share:6.1%} {ms:9.2f} ms  {label[:_LABEL]:<{_LABEL}}  {filled}".rstrip()


def _hints(report: Report) -> list[str]:
    lines: list[str] = []
    if not report.hints:
        lines += _wrapped("", f"none of the common causes of slow steps was found{_unseen(report)}")
    for number, hint in enumerate(report.hints, 1):
        # What the input computes while the model does, it takes from the model's cores.
        bound = "at least" if hint.cause == SLOW_INPUT else "up to"
        gain = f" (gain: {bound} {hint.severity:.0%})" if hint.severity >= _SMALL else ""
        lines += _wrapped(f"{number}. ", f"{hint.text}{gain}")
        lines += _wrapped("   ", f"{hint.remedy}")
        for proof in report.proofs:
            if proof.cause == hint.cause:
                lines += _wrapped("   ", proof_text(proof))
    for proof in report.proofs:
        if proof.cause == TOGETHER:
            lines += _wrapped("all that helped, together: ", proof_text(proof))
        elif proof.cause not in {hint.cause for hint in report.hints}:
            lines += _wrapped(f"{proof.cause}: ", proof_text(proof))
    return lines


def _unseen(report: Report) -> str:
    """Says what recorded operations cannot show."""
    if any(is_gpu(use.device) for use in report.use):
        return ""
    return (
        "; an input that prepares batches on the same cores while the model computes does not show "
        "here: --prove measures what it costs"
    )


def _wrapped(first: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {first}",
        subsequent_indent="     ",
        break_on_hyphens=False,
    )
