"""Differences between two reports: what became slower or faster, and what may be noise.

    comparison = compare(before, after)
    comparison.step.difference_ms, comparison.step.significant

The time of an entry is the share of steps in which it occurs times its median in these, so that
one slow step changes little, and a hook that runs at some steps still counts. Whether two times
differ is tested on all steps of both (`rank_test`), entries of a table together. The test knows
the noise from step to step; that from run to run, such as another load of the machine, it cannot
see.
"""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence

from tf_frame.profiling.report.figures import Report, Row
from tf_frame.profiling.report.hooks import KINDS as HOOK_KINDS
from tf_frame.profiling.report.rank_test import adjusted, p_value

VERSION = 1
# Part of false differences among those that count as significant.
_LEVEL = 0.05
# Entries below this part of the step in both are not compared one by one.
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
      before_ms, after_ms: time per step; 0 where the entry does not occur.
      percent: of `before_ms`; None if that is 0.
      p: probability of such a difference by chance, adjusted for the other entries of the table.
      significant: whether the difference is none of chance.
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
      version: of these dataclasses, and so of the JSON.
      before, after: names of the runs.
      steps_before, steps_after: recorded steps.
      least_p: the smallest `p` that as many steps can give.
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
    """Compares two reports.

    Operations, layers and others below a thousandth of the step in both are left out.
    """
    first, second = (len(each.step.ms_of_steps) for each in (before, after))
    step = _whole("step", before, after)
    tables = {
        "phases": [_phases(each, hooks=False) for each in (before, after)],
        "hooks": [_phases(each, hooks=True) for each in (before, after)],
        "kinds": [_times(each.kinds) for each in (before, after)],
        "layers": _matched(_times(before.layers), _times(after.layers)),
        "operations": _matched(_times(before.operations), _times(after.operations)),
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
            name: tuple(_changes(_Side(old, first), _Side(new, second), least_ms=least_ms))
            for name, (old, new) in tables.items()
        },
    )


def _whole(name: str, before: Report, after: Report, counts: Sequence[int] = (1, 1)) -> Change:
    """Compares the steps, each time divided by a count."""
    times = [
        [ms / count for ms in each.step.ms_of_steps]
        for each, count in zip((before, after), counts, strict=True)
    ]
    (change,) = _changes(*(_Side({name: each}, len(each)) for each in times))
    return change


def _example(before: Report, after: Report) -> Change | None:
    first, second = before.examples_per_step, after.examples_per_step
    if not first or not second or first == second:
        return None
    return _whole("example", before, after, (first, second))


@dataclasses.dataclass(frozen=True)
class _Side:
    """Entries of one report, and its number of steps."""

    times: _Times
    steps: int

    def of(self, name: str) -> Sequence[float]:
        # To nanoseconds, as they were recorded: errors of sums would count as ranks.
        return [round(ms, 6) for ms in self.times.get(name, [0.0] * self.steps)]


def _phases(report: Report, *, hooks: bool) -> _Times:
    found = [each for each in report.phases if (each.kind in HOOK_KINDS) == hooks]
    return _added((each.label, each.ms_of_steps) for each in found)


def _times(rows: Iterable[Row]) -> _Times:
    return _added((_CLONE.sub("", row.name), row.ms_of_steps) for row in rows)


def _added(entries: Iterable[tuple[str, Sequence[float]]]) -> _Times:
    """Adds the times of entries with one name, step by step."""
    found: dict[str, list[float]] = {}
    for name, times in entries:
        before = found.get(name, [0.0] * len(times))
        found[name] = [old + new for old, new in zip(before, times, strict=True)]
    return found


def _matched(before: _Times, after: _Times) -> tuple[_Times, _Times]:
    """Adds up entries that differ only in the numbers that make names unique.

    TensorFlow counts the operations of a name, so that a new one renumbers those after it. Only
    where both sides have the same numbers does each number stand for the same operation.
    """
    plain: dict[str, tuple[set[str], set[str]]] = {}
    for side, times in enumerate((before, after)):
        for name in times:
            plain.setdefault(_NUMBER.sub("", name), (set(), set()))[side].add(name)
    same = {name for first, second in plain.values() if first == second for name in first}

    def renamed(times: _Times) -> _Times:
        return _added((n if n in same else _NUMBER.sub("", n), ms) for n, ms in times.items())

    return renamed(before), renamed(after)


def _changes(before: _Side, after: _Side, *, least_ms: float = 0.0) -> list[Change]:
    """Compares entries by name; those below `least_ms` on both sides are left out."""
    names = dict.fromkeys([*before.times, *after.times])
    pairs = {name: (before.of(name), after.of(name)) for name in names}
    pairs = {n: pair for n, pair in pairs.items() if max(map(typical, pair)) >= least_ms}
    chances = adjusted([p_value(*pair) for pair in pairs.values()])
    found = [_change(name, *pairs[name], p) for name, p in zip(pairs, chances, strict=True)]
    return sorted(found, key=lambda each: (not each.significant, -abs(each.difference_ms)))


def typical(times: Sequence[float]) -> float:
    """The share of steps with some time, times the median of these."""
    some = [ms for ms in times if ms > 0]
    return len(some) / len(times) * statistics.median(some) if some else 0.0


def _change(name: str, before: Sequence[float], after: Sequence[float], p: float) -> Change:
    before_ms, after_ms = typical(before), typical(after)
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
    """Conditions that differ, by which times differ too."""
    for what, first, second in (
        ("task", before.task, after.task),
        ("machine", before.host, after.host),
        ("number of cores", before.cores, after.cores),
        ("number of examples per step", before.examples_per_step, after.examples_per_step),
    ):
        if first != second:
            yield f"the {what} differs: {first} before, {second} after"
