"""Compares two reports: which entries became slower or faster, and which may be noise.

    comparison = compare(before, after)
    comparison.step.difference_ms, comparison.step.significant

The time of an entry, such as a layer, is the median over the steps with this entry, multiplied by
the share of such steps. So one slow step changes little, and a hook that runs at few steps still
counts. The test of significance uses all steps of both reports, and is adjusted for the number of
entries in a table. The test covers noise from step to step, but not noise from run to run, such as
another load of the machine.
"""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence

from tf_frame.profiling.report.contents import Report, Row
from tf_frame.profiling.report.significance import adjusted_p_values, p_value
from tf_frame.profiling.step_profile import HOOK_KINDS

VERSION = 1
# Share of false differences among the significant ones.
_LEVEL = 0.05
# Entries below this share of the step in both reports are left out.
_LEAST_SHARE = 1e-3
_CLONE = re.compile(r"(?<![^/])clone_\d+/")
_NUMBER = re.compile(r"_\d+(?=/|$)")

# Name of an entry -> its milliseconds in each step.
_Times = Mapping[str, Sequence[float]]


@dataclasses.dataclass(frozen=True)
class Change:
    """An entry of two reports.

    Attributes:
      name: phase, hook, kind, layer or operation.
      before_ms, after_ms: time per step; 0 if the entry does not occur.
      percent: the difference in percent of `before_ms`; None if `before_ms` is 0.
      p: probability of such a difference by chance, adjusted for the size of the table.
      significant: whether the difference is more than noise.
    """

    name: str
    before_ms: float
    after_ms: float
    difference_ms: float
    percent: float | None
    p: float
    significant: bool


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All entries of two reports.

    Attributes:
      version: version of these dataclasses, and so of the JSON.
      before, after: names of the runs.
      steps_before, steps_after: recorded steps.
      least_p: the smallest `p` that is possible with as many steps.
      notes: why times may differ for other reasons.
      step: the whole step.
      example: the step divided by its examples, if their number differs; otherwise None.
      phases, hooks, kinds, layers, operations: significant differences first, by falling size.
    """

    version: int
    before: str
    after: str
    steps_before: int
    steps_after: int
    least_p: float
    notes: tuple[str, ...]
    step: Change
    example: Change | None
    phases: tuple[Change, ...]
    hooks: tuple[Change, ...]
    kinds: tuple[Change, ...]
    layers: tuple[Change, ...]
    operations: tuple[Change, ...]

    @property
    def can_tell(self) -> bool:
        """True if there are enough steps for any significant difference."""
        return self.least_p < _LEVEL


def compare(before: Report, after: Report) -> Comparison:
    """Compares two reports, without entries below a thousandth of the step in both."""
    first, second = len(before.step.ms_of_steps), len(after.step.ms_of_steps)
    step = _compare_steps("step", before, after)
    tables = {
        "phases": [_phases(report, hooks=False) for report in (before, after)],
        "hooks": [_phases(report, hooks=True) for report in (before, after)],
        "kinds": [_times(report.kinds) for report in (before, after)],
        "layers": _match_numbers(_times(before.layers), _times(after.layers)),
        "operations": _match_numbers(_times(before.operations), _times(after.operations)),
    }
    least_ms = _LEAST_SHARE * max(step.before_ms, step.after_ms)
    return Comparison(
        version=VERSION,
        before=before.run,
        after=after.run,
        steps_before=first,
        steps_after=second,
        least_p=p_value(range(first), range(first, first + second)),
        notes=tuple(_notes(before, after)),
        step=step,
        example=_example(before, after),
        **{
            name: tuple(_changes(old, new, (first, second), least_ms))
            for name, (old, new) in tables.items()
        },
    )


def _compare_steps(
    name: str, before: Report, after: Report, counts: Sequence[int] = (1, 1)
) -> Change:
    """Compares the steps of two reports, with their times divided by a count."""
    first, second = (
        [ms / count for ms in report.step.ms_of_steps]
        for report, count in zip((before, after), counts, strict=True)
    )
    (change,) = _changes({name: first}, {name: second}, (len(first), len(second)))
    return change


def _example(before: Report, after: Report) -> Change | None:
    first, second = before.examples_per_step, after.examples_per_step
    if not first or not second or first == second:
        return None
    return _compare_steps("example", before, after, (first, second))


def _phases(report: Report, *, hooks: bool) -> _Times:
    phases = [phase for phase in report.phases if (phase.kind in HOOK_KINDS) == hooks]
    return _add_up((phase.label, phase.ms_of_steps) for phase in phases)


def _times(rows: Iterable[Row]) -> _Times:
    return _add_up((_CLONE.sub("", row.name), row.ms_of_steps) for row in rows)


def _add_up(entries: Iterable[tuple[str, Sequence[float]]]) -> _Times:
    """Adds the times of entries with one name, step by step."""
    sums: dict[str, list[float]] = {}
    for name, times in entries:
        before = sums.get(name, [0.0] * len(times))
        sums[name] = [old + new for old, new in zip(before, times, strict=True)]
    return sums


def _match_numbers(before: _Times, after: _Times) -> tuple[_Times, _Times]:
    """Adds up entries that differ only in the numbers that make names unique.

    TensorFlow numbers operations of the same name, so that a new operation renumbers all later
    ones. Only if both reports have the same numbers, a number stands for the same operation.
    """
    plain: dict[str, tuple[set[str], set[str]]] = {}
    for side, times in enumerate((before, after)):
        for name in times:
            plain.setdefault(_NUMBER.sub("", name), (set(), set()))[side].add(name)
    same = {name for first, second in plain.values() if first == second for name in first}

    def renamed(times: _Times) -> _Times:
        return _add_up((n if n in same else _NUMBER.sub("", n), ms) for n, ms in times.items())

    return renamed(before), renamed(after)


def _changes(
    before: _Times, after: _Times, steps: tuple[int, int], least_ms: float = 0.0
) -> list[Change]:
    """Compares entries by name, without entries below `least_ms` on both sides."""

    def entry_ms(times: _Times, name: str, count: int) -> Sequence[float]:
        # In whole nanoseconds, as recorded: rounding errors of sums would change ranks.
        return [round(ms, 6) for ms in times.get(name, [0.0] * count)]

    names = [*before, *after]
    pairs = {n: (entry_ms(before, n, steps[0]), entry_ms(after, n, steps[1])) for n in names}
    pairs = {n: pair for n, pair in pairs.items() if max(map(typical_ms, pair)) >= least_ms}
    chances = adjusted_p_values([p_value(*pair) for pair in pairs.values()])
    changes = [_change(name, *pairs[name], p) for name, p in zip(pairs, chances, strict=True)]
    return sorted(changes, key=lambda change: (not change.significant, -abs(change.difference_ms)))


def typical_ms(times: Sequence[float]) -> float:
    """Returns the share of steps with some time, times the median of these steps."""
    some = [ms for ms in times if ms > 0]
    return len(some) / len(times) * statistics.median(some) if some else 0.0


def _change(name: str, before: Sequence[float], after: Sequence[float], p: float) -> Change:
    before_ms, after_ms = typical_ms(before), typical_ms(after)
    difference = after_ms - before_ms
    return Change(
        name=name,
        before_ms=before_ms,
        after_ms=after_ms,
        difference_ms=difference,
        percent=100 * difference / before_ms if before_ms else None,
        p=p,
        significant=p < _LEVEL,
    )


def _notes(before: Report, after: Report) -> Iterable[str]:
    """Names different conditions, which may explain different times."""
    for condition, first, second in (
        ("task", before.task, after.task),
        ("machine", before.host, after.host),
        ("number of cores", before.cores, after.cores),
        ("number of examples per step", before.examples_per_step, after.examples_per_step),
    ):
        if first != second:
            yield f"the {condition} differs: {first} before, {second} after"
