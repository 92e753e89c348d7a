"""Division of a step's wall time: each instant belongs to one phase, and to the operations in it.

A sweep goes through the begins and ends of all spans and operations in the order of time. Between
two of them nothing changes, so the time between belongs

    in the session call    to the class of operations that computes, else waits for input, else
                           waits for others (`kinds.Class`); without any, to the session
    outside                to the hook that runs; without one, to the loop

So the phases add up to the step. Time of a class is divided equally between its operations.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tf_frame.profiling.report.figures import (
    COMMUNICATION,
    DEVICE,
    HOST,
    INPUT,
    LOOP,
    OVERHEAD,
)
from tf_frame.profiling.report.kinds import Class
from tf_frame.profiling.step_profile import SESSION, Op, Span, Step

_PHASES = {
    Class.DEVICE: DEVICE,
    Class.HOST: HOST,
    Class.FUNCTION: HOST,
    Class.INPUT: INPUT,
    Class.WAIT: COMMUNICATION,
}
_CLASSES = tuple(Class)
_SPAN, _OP = 0, 1


@dataclasses.dataclass(frozen=True)
class Division:
    """Wall time of a step, in nanoseconds.

    Attributes:
      phases: (kind, name of the hook) -> time; they add up to the step.
      shares: of each operation; they add up to the phases in which operations run.
    """

    phases: dict[tuple[str, str], int]
    shares: Sequence[float]


def divide(step: Step, classes: Sequence[Class]) -> Division:
    """Divides the wall time of a step.

    Args:
      step: the step; what is before its begin or after its end does not count.
      classes: of each of its operations.
    """
    sweep = _Sweep(step, classes)
    before = step.begin
    for time, is_end, what, index in sorted(_events(step)):
        sweep.advance(time - before)
        sweep.change(what, index, is_end)
        before = time
    sweep.advance(step.end - before)
    return Division(dict(sweep.phases), sweep.shares)


def _events(step: Step) -> Iterator[tuple[int, bool, int, int]]:
    """(time, is end, what, position) of spans and operations, cut at the ends of the step."""
    both: list[tuple[int, Sequence[Span | Op]]] = [(_SPAN, step.spans), (_OP, step.ops)]
    for what, intervals in both:
        for index, interval in enumerate(intervals):
            begin, end = max(interval.begin, step.begin), min(interval.end, step.end)
            if begin <= end:
                yield begin, False, what, index
                yield end, True, what, index


class _Sweep:
    """Spans and operations that run at an instant, and the time that was divided until then.

    An operation's part of the time is that of one operation of its class, added up from its
    begin to its end; so an instant costs the same however many operations run.
    """

    def __init__(self, step: Step, classes: Sequence[Class]) -> None:
        self.phases: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.shares = [0.0] * len(step.ops)
        self._step, self._classes = step, classes
        self._spans: list[int] = []
        self._sessions = 0
        self._running = [0] * len(_CLASSES)
        self._of_one = [0.0] * len(_CLASSES)

    def advance(self, nanoseconds: int) -> None:
        """Gives away the time since the last change."""
        if nanoseconds <= 0:
            return
        if not self._sessions:
            span = self._step.spans[self._spans[-1]] if self._spans else None
            self.phases[(span.kind, span.name) if span else (LOOP, "")] += nanoseconds
            return
        winner = next((each for each in _CLASSES if self._running[each]), None)
        if winner is None:
            self.phases[OVERHEAD, ""] += nanoseconds
        else:
            self.phases[_PHASES[winner], ""] += nanoseconds
            self._of_one[winner] += nanoseconds / self._running[winner]

    def change(self, what: int, index: int, is_end: bool) -> None:
        """Notes that a span or an operation begins or ends."""
        if what == _OP:
            of_class = self._classes[index]
            sign = 1 if is_end else -1
            self._running[of_class] -= sign
            self.shares[index] += sign * self._of_one[of_class]
        elif self._step.spans[index].kind == SESSION:
            self._sessions += -1 if is_end else 1
        elif is_end:
            self._spans.remove(index)
        else:
            self._spans.append(index)
