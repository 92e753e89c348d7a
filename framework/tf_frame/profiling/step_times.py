"""Durations of steps and of hooks, measured in every run, in memory of a fixed size.

    times = StepTimes()
    times.begin(now)                 # when a session begins
    times.step(now)                  # after each step
    times.hook(hook, began, now)     # after each method of a hook
    times.table()                    # median, p90, p99, hooks; for result.json

Durations are counted in a histogram. Each bucket is 5 % wider than the bucket before, so that the
error of a quantile is at most 2.5 %.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# The first class begins at a microsecond, the last class at 28 hours.
_PER_LOG = 1 / math.log(1.05)
_SHORTEST_SECS = 1e-6
_CLASSES = 520
_OFFSET = -math.log(_SHORTEST_SECS) * _PER_LOG
QUANTILES = {"p50_secs": 0.5, "p90_secs": 0.9, "p99_secs": 0.99}
# Taking a batch that is ready hands a step to another thread and back: 0.1 ms on two busy cores.
_STARVING_SHARE, _STARVING_SECS = 0.2, 0.0005


@dataclasses.dataclass(slots=True)
class HookTime:
    """Calls of one hook, at most one a step, and seconds in its methods."""

    calls: int = 0
    secs: float = 0.0


class StepTimes:
    """Counts durations; all times are seconds of one clock, such as `time.monotonic`.

    The first step of a session is not counted, as TensorFlow prepares the graph in it.

    Attributes:
      first_secs: seconds of the first step, with the preparation of the graph; None before.
      hooks: hook -> its time, in the order of first calls.
      spans: list that gets `(hook, began, ended)` of each call, and `(None, began, ended)` of each
        session call with hooks; None: nothing is recorded.
      on_step: called after a step with hooks, with its global step and its end; None: nothing.
    """

    def __init__(self) -> None:
        self.hooks: dict[Any, HookTime] = {}
        self.spans: list[tuple[Any, float, float]] | None = None
        self.on_step: Any = None
        self.first_secs: float | None = None
        self._counts = [0] * _CLASSES
        self._began: float | None = None
        self._last = math.nan

    def begin(self, now: float) -> None:
        """Begins a session: the next step is not counted."""
        self._began, self._last = now, math.nan

    def step(self, now: float, steps: int = 1) -> None:
        """Counts a step, or several steps of one call, from the end of the last step until now.

        A negative number does not count: a parameter server came back with an older checkpoint.
        """
        secs, self._last = now - self._last, now
        if secs > 0 and steps > 0:  # Not for NaN, of the first step.
            number = int(math.log(secs / steps) * _PER_LOG + _OFFSET)
            self._counts[min(max(number, 0), _CLASSES - 1)] += steps
        elif self.first_secs is None and self._began is not None:
            self.first_secs = now - self._began

    def hook(self, hook: Any, began: float, ended: float, *, ends: bool = False) -> float:
        """Adds the time of a method of a hook; `ends` marks the method after the step.

        The clock may differ from the clock of `step`. Returns `ended`, when the next call begins.
        """
        time = self.hooks.get(hook)
        if time is None:
            time = self.hooks[hook] = HookTime()
        time.secs += ended - began
        time.calls += ends
        if self.spans is not None:
            self.spans.append((hook, began, ended))
        return ended

    def session_call(self, began: float, ended: float) -> float:
        """Notes a session call with hooks; see `hook`."""
        if self.spans is not None:
            self.spans.append((None, began, ended))
        return ended

    @property
    def counts(self) -> Sequence[int]:
        """Number of steps in each class of durations."""
        return self._counts

    def table(self) -> dict[str, Any]:
        """Returns first step, steps, quantiles and hooks, as `result.json` has them."""
        hooks = {
            type(hook).__name__: {"calls": time.calls, "secs": time.secs}
            for hook, time in self.hooks.items()
        }
        first = {} if self.first_secs is None else {"first_secs": self.first_secs}
        counts = {**quantiles(self._counts), "histogram": histogram(self._counts)}
        return {**first, **counts, "hooks": hooks}


def is_starving(input_share: float | None, steps_per_sec: float | None) -> bool:
    """Returns whether a slow input is worth a word: the share of the steps that wait for it."""
    if not input_share or not steps_per_sec:
        return False
    return input_share > _STARVING_SHARE and input_share / steps_per_sec >= _STARVING_SECS


def quantiles(counts: Sequence[int]) -> dict[str, float]:
    """Returns `steps`, and with at least one step also `p50_secs`, `p90_secs`, `p99_secs`.

    `counts` are steps in each class; for an interval, the difference of `StepTimes.counts`.
    """
    total = sum(counts)
    result: dict[str, float] = {"steps": total}
    for name, share in QUANTILES.items() if total else ():
        result[name] = _middle(_find_class(counts, share * (total - 1)))
    return result


def histogram(counts: Sequence[int]) -> Mapping[str, int]:
    """Returns the upper limit of each class with steps, in ms, and their number."""
    used: Iterable[tuple[int, int]] = ((i, count) for i, count in enumerate(counts) if count)
    return {f"{_limit(number + 1) * 1e3:.4g}": count for number, count in used}


def _find_class(counts: Sequence[int], rank: float) -> int:
    totals = itertools.accumulate(counts)
    return next(number for number, total in enumerate(totals) if total > rank)


def _limit(number: int) -> float:
    """Lower limit of a class, in seconds."""
    return math.exp((number - _OFFSET) / _PER_LOG)


def _middle(number: int) -> float:
    return math.sqrt(_limit(number) * _limit(number + 1))
