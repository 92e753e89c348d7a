"""Attributes the wall time of a step to phases and to operations.

A sweep visits the begins and ends of all spans and operations in the order of time. The time
between two successive events is attributed

    within the session call    to the running operations with the smallest `Priority`, in equal
                               parts; if no operation runs, to the session
    outside                    to the hook that runs; if no hook runs, to the loop

So the times of all phases add up to the time of the step.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tf_frame.profiling.report.contents import (
    COMMUNICATION,
    DEVICE,
    HOST,
    INPUT,
    LOOP,
    OVERHEAD,
)
from tf_frame.profiling.report.operation_kinds import Priority
from tf_frame.profiling.step_profile import SESSION, Op, Span, Step

_PHASES = {
    Priority.DEVICE: DEVICE,
    Priority.HOST: HOST,
    Priority.FUNCTION: HOST,
    Priority.INPUT: INPUT,
    Priority.WAIT: COMMUNICATION,
}
_PRIORITIES = tuple(Priority)
_SPAN, _OP = 0, 1


@dataclasses.dataclass(frozen=True)
class Attribution:
    """Wall time of a step, in nanoseconds.

    Attributes:
      phases: (kind, name of the hook) -> time; the times add up to the step.
      shares: time of each operation; the times add up to the phases with operations.
    """

    phases: dict[tuple[str, str], int]
    shares: Sequence[float]


def attribute_time(step: Step, priorities: Sequence[Priority]) -> Attribution:
    """Attributes the wall time of a step by the priority of each of its operations.

    Time before the begin and after the end of the step does not count.
    """
    sweep = _Sweep(step, priorities)
    before = step.begin
    for time, is_end, source, index in sorted(_events(step)):
        sweep.advance(time - before)
        sweep.change(source, index, is_end)
        before = time
    sweep.advance(step.end - before)
    return Attribution(dict(sweep.phases), sweep.shares)


def _events(step: Step) -> Iterator[tuple[int, bool, int, int]]:
    """(time, is end, source, position) of spans and operations, cut at the ends of the step."""
    sources: list[tuple[int, Sequence[Span | Op]]] = [(_SPAN, step.spans), (_OP, step.ops)]
    for source, intervals in sources:
        for index, interval in enumerate(intervals):
            begin, end = max(interval.begin, step.begin), min(interval.end, step.end)
            if begin <= end:
                yield begin, False, source, index
                yield end, True, source, index


class _Sweep:
    """The spans and operations that run at an instant, and the time attributed until then.

    `_time_of_one` adds up the time that one operation of a class has received, and an operation
    receives the difference between its end and its begin. So an instant costs the same however
    many operations run.
    """

    def __init__(self, step: Step, priorities: Sequence[Priority]) -> None:
        self.phases: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.shares = [0.0] * len(step.ops)
        self._step, self._priorities = step, priorities
        self._spans: list[int] = []
        self._sessions = 0
        self._running = [0] * len(_PRIORITIES)
        self._time_of_one = [0.0] * len(_PRIORITIES)

    def advance(self, nanoseconds: int) -> None:
        """Attributes the time since the last change."""
        if nanoseconds <= 0:
            return
        if not self._sessions:
            span = self._step.spans[self._spans[-1]] if self._spans else None
            self.phases[(span.kind, span.name) if span else (LOOP, "")] += nanoseconds
            return
        first = next((priority for priority in _PRIORITIES if self._running[priority]), None)
        if first is None:
            self.phases[OVERHEAD, ""] += nanoseconds
        else:
            self.phases[_PHASES[first], ""] += nanoseconds
            self._time_of_one[first] += nanoseconds / self._running[first]

    def change(self, source: int, index: int, is_end: bool) -> None:
        """Notes that a span or an operation begins or ends."""
        if source == _OP:
            priority = self._priorities[index]
            sign = 1 if is_end else -1
            self._running[priority] -= sign
            self.shares[index] += sign * self._time_of_one[priority]
        elif self._step.spans[index].kind == SESSION:
            self._sessions += -1 if is_end else 1
        elif is_end:
            self._spans.remove(index)
        else:
            self._spans.append(index)
