"""Cadences: the steps at which a hook runs, by number or by time.

The training loop asks the cadences for the next step of any hook, and runs all steps before that
step without calling a hook.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

NEVER = math.inf


class Cadence:
    """The steps at which a hook runs: the union of the steps of all arguments.

        Cadence(every_steps=100)                 1, 101, 201 ...
        Cadence(every_steps=100, first=False)    100, 200 ... steps after the start
        Cadence(at_steps=[20, 200])              20, 200
        Cadence(every_secs=600, every_steps=50)  whichever comes first
        Cadence()                                no step

    With several workers the global step may skip a wanted step; then the next step is wanted.

    Args:
      every_steps: steps between wanted steps.
      every_secs: seconds between wanted steps.
      at_steps: global steps; a session ignores the steps before its begin.
      first: with `every_steps` or `every_secs`, whether the first step of a session is wanted.

    Raises:
      ValueError: a number that is not positive.
    """

    def __init__(
        self,
        *,
        every_steps: int | None = None,
        every_secs: float | None = None,
        at_steps: Iterable[int] = (),
        first: bool = True,
    ) -> None:
        for name, value in (("every_steps", every_steps), ("every_secs", every_secs)):
            if value is not None and value <= 0:
                raise ValueError(f"{name} is {value}; it must be positive")
        self.every_steps = every_steps
        self.every_secs = every_secs
        self.at_steps = tuple(sorted(set(at_steps)))
        if self.at_steps and self.at_steps[0] <= 0:
            raise ValueError(f"at_steps has {self.at_steps[0]}; the first step is 1")
        self._first = first and (every_steps is not None or every_secs is not None)
        self.start(0)

    def start(self, step: int) -> None:
        """Begins a session after `step`."""
        self._want_first = self._first
        self._left = [s for s in self.at_steps if s > step]
        self._note(step)

    def mark(self, step: int) -> None:
        """Records that the hook ran at `step`."""
        self._want_first = False
        self._left = [s for s in self._left if s > step]
        self._note(step)

    def wants(self, step: int) -> bool:
        """Returns whether the hook wants `step`, at the present time."""
        return step >= self.next_step() or time.monotonic() >= self.next_time()

    def next_step(self) -> float:
        """Returns the number of the next wanted step, `NEVER` without one."""
        if self._want_first:
            return self._last_step + 1
        by_number = self._last_step + self.every_steps if self.every_steps else NEVER
        return min(by_number, self._left[0] if self._left else NEVER)

    def next_time(self) -> float:
        """Returns the `time.monotonic` from which a step is wanted, or `NEVER`."""
        return self._last_time + self.every_secs if self.every_secs else NEVER

    def __bool__(self) -> bool:
        """Returns whether any step can be wanted."""
        return bool(self.at_steps or self.every_steps or self.every_secs)

    def __str__(self) -> str:
        parts = [f"steps {', '.join(map(str, self.at_steps))}"] if self.at_steps else []
        if self.every_steps is not None:
            every = "every step" if self.every_steps == 1 else f"every {self.every_steps} steps"
            parts.append(every)
        if self.every_secs is not None:
            parts.append(f"every {self.every_secs:g} s")
        return " and ".join(parts) or "no step"

    def _note(self, step: int) -> None:
        self._last_step = step
        self._last_time = time.monotonic()


class Multiples(Cadence):
    """The multiples of a number of steps, independent of the begin of a session.

        Multiples(100)                           100, 200, 300 ...
        Multiples(100, first=1, last_step=250)   1, 100, 200, 250

    Args:
      every_steps: the number; None: no multiples.
      first: number of the first wanted step, counted from the begin of a session; 0: the next
        multiple.
      last_step: a further wanted step, such as the last step of training.
      every_secs: seconds after a wanted step until the next step is wanted.
    """

    def __init__(
        self,
        every_steps: int | None,
        *,
        first: int = 0,
        last_step: int | None = None,
        every_secs: float | None = None,
    ) -> None:
        self._steps_to_first = first
        self._end = last_step
        super().__init__(every_steps=every_steps, every_secs=every_secs)

    def start(self, step: int) -> None:
        super().start(step)
        self._want_first = self._steps_to_first > 0

    def next_step(self) -> float:
        if self._want_first:
            return self._last_step + self._steps_to_first
        every = self.every_steps
        multiple = (self._last_step // every + 1) * every if every else NEVER
        ahead = self._end is not None and self._end > self._last_step
        return min(multiple, self._end if ahead and self._end is not None else NEVER)

    def __bool__(self) -> bool:
        return super().__bool__() or self._steps_to_first > 0 or self._end is not None

    def __str__(self) -> str:
        parts = [f"step {self._steps_to_first} of a session"] if self._steps_to_first else []
        parts += [f"multiples of {self.every_steps}"] if self.every_steps else []
        parts += [f"every {self.every_secs:g} s"] if self.every_secs else []
        parts += [] if self._end is None else [f"step {self._end}"]
        return " and ".join(parts) or "no step"


class Follow(Cadence):
    """The steps of the cadence of another hook, which starts and marks it."""

    def __init__(self, cadence: Cadence) -> None:
        self._cadence = cadence
        super().__init__()

    def wants(self, step: int) -> bool:
        return self._cadence.wants(step)

    def next_step(self) -> float:
        return self._cadence.next_step()

    def next_time(self) -> float:
        return self._cadence.next_time()

    def __bool__(self) -> bool:
        return bool(self._cadence)

    def __str__(self) -> str:
        return str(self._cadence)


class Either(Cadence):
    """The union of cadences."""

    def __init__(self, *cadences: Cadence) -> None:
        self._cadences = cadences
        super().__init__()

    def start(self, step: int) -> None:
        for cadence in self._cadences:
            cadence.start(step)

    def mark(self, step: int) -> None:
        # The cadences count separately: a step for one cadence does not postpone the other.
        for cadence in self._cadences:
            if cadence.wants(step):
                cadence.mark(step)

    def next_step(self) -> float:
        return min(cadence.next_step() for cadence in self._cadences)

    def next_time(self) -> float:
        return min(cadence.next_time() for cadence in self._cadences)

    def __bool__(self) -> bool:
        return any(map(bool, self._cadences))

    def __str__(self) -> str:
        return " and ".join(str(cadence) for cadence in self._cadences if cadence) or "no step"
